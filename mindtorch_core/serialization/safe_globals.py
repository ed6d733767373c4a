"""Classes and functions that files may name although reading is restricted to what is safe."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, Final

from ..values.interrupts import leaving

__all__ = [
    "BLOCKED",
    "Global",
    "add_safe_globals",
    "allowed",
    "clear_safe_globals",
    "get_safe_globals",
    "globals_in",
    "safe_globals",
]

Global = Callable[..., Any] | tuple[Callable[..., Any], str]

BLOCKED: Final = frozenset({"nt", "os", "posix", "sys"})  # never, even if somebody allows them

_marked: set[Global] = set()
_lock: Final = threading.RLock()


def add_safe_globals(safe_globals: list[Global]) -> None:
    """Let ``torch.load`` make and call these with ``weights_only=True``.

    Args:
        safe_globals: classes and functions, or pairs of one and the full name that files have for it.
    """
    global _marked
    with _lock:
        _marked = _marked | set(safe_globals)


def get_safe_globals() -> list[Global]:
    """What was added by `add_safe_globals` and is in force."""
    return list(_marked)


def clear_safe_globals() -> None:
    """Take back what `add_safe_globals` added."""
    global _marked
    with _lock:
        _marked = set()


class safe_globals:
    """A context in which `add_safe_globals` is in force for some globals.

    Args:
        safe_globals: as of that function.
    """

    def __init__(self, safe_globals: list[Global]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        add_safe_globals(self.safe_globals)

    def _leave(self) -> None:
        global _marked
        with _lock:
            _marked = _marked - set(self.safe_globals)

    __exit__ = leaving(_leave)


def allowed() -> dict[str, Any]:
    """What was added, by the full names that files have for it.

    Raises:
        TypeError: if the name beside one is no str.
        ValueError: if a tuple is no pair.
    """
    from .homes import home

    found = {}
    for each in _marked:
        if not isinstance(each, tuple):
            found[".".join(home(each))] = found[f"{each.__module__}.{each.__qualname__}"] = each
            continue
        if len(each) != 2:
            raise ValueError(
                f"Expected tuple of length 2 (global, str of callable full path), but got tuple of "
                f"length: {len(each)}"
            )
        if type(each[1]) is not str:
            raise TypeError(
                f"Expected second item in tuple to be str of callable full path, but got: "
                f"{type(each[1])}"
            )
        found[each[1]] = each[0]
    return found


def globals_in(structure: bytes) -> set[str]:
    """Full names of all that a structure in the pickle format asks for.

    Raises:
        pickle.UnpicklingError: if it is none.
    """
    from .homes import current

    return {".".join(current(*pair)) for pair in _asked_for(structure)}


def _asked_for(structure: bytes) -> Iterable[tuple[str, str]]:
    import pickletools  # takes long, and nothing else needs it

    texts: list[Any] = []  # what was pushed lately, and what the memo has
    memo: dict[int, Any] = {}
    argument: Any
    for opcode, argument, _ in pickletools.genops(structure):
        if opcode.name == "GLOBAL" or opcode.name == "INST":
            module, _, name = argument.partition(" ")
            yield module, name
            texts.append(None)
        elif opcode.name == "STACK_GLOBAL":
            yield str(texts[-2]), str(texts[-1])
            texts.append(None)
        elif "UNICODE" in opcode.name:
            texts.append(argument)
        elif opcode.name in ("BINPUT", "LONG_BINPUT", "PUT"):
            memo[argument] = texts[-1] if texts else None
        elif opcode.name == "MEMOIZE":
            memo[len(memo)] = texts[-1] if texts else None
        elif "GET" in opcode.name:
            texts.append(memo.get(argument))
        elif opcode.name not in ("PROTO", "FRAME"):
            texts.append(None)
