"""What an unknown name may have meant."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Final, NoReturn

__all__ = ["SHOWN", "lacking", "missing", "nearest", "suggestion"]

# What was suggested, by module and name: programs ask again and again whether there is a name.
_NEAR: Final[dict[tuple[str, str], str]] = {}
_KEPT: Final = 256

# Says by which path programs know a module; empty unless `import torch` is mindtorch.
SHOWN: Final[list[Callable[[str], str]]] = []


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """Up to three names that resemble an unknown one, the best first; private ones for private ones only.

    Of those that resemble it equally, names that begin as it does come first: ``ad`` is rather
    ``add`` than ``pad``.
    """
    import difflib  # rarely needed

    def rank(each: str) -> tuple[float, int]:
        alike = difflib.SequenceMatcher(None, each, name).ratio()
        same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(each, name, strict=False))
        return -alike, -len(list(same))

    known = [each for each in names if each[:1] != "_" or name[:1] == "_"]
    return sorted(difflib.get_close_matches(name, known, n=10), key=rank)[:3]


# What an argument is called elsewhere, where that resembles nothing here.
_ALSO: Final = {
    "axes": "dim",
    "axis": "dim",
    "epsilon": "eps",
    "keepdims": "keepdim",
    "learning_rate": "lr",
    "prob": "p",
    "probability": "p",
    "rate": "p",
    "std": "scale",
}


def suggestion(name: str, names: Iterable[str]) -> str:
    """A sentence that suggests the nearest names; empty if none is near."""
    known = list(names)
    near = [_ALSO[name]] if _ALSO.get(name) in known else nearest(name, known)
    return f" Did you mean {' or '.join(near)}?" if near else ""


def missing(
    module: str, name: str, names: Callable[[], Iterable[str]], *, version: str = ""
) -> AttributeError:
    """The error for a name that a module of PyTorch's may have and this one has not: why, if that is known.

    Private names are what libraries probe for: nothing is looked for that resembles them.

    Args:
        module: its path.
        name: what was asked for.
        names: gives those that the module has.
        version: of mindtorch, with a space before it, where it is to be said.
    """
    from .left_out import reason_for  # rarely needed

    module = module.replace("mindtorch_core.ecosystem.", "torch.", 1)
    for show in SHOWN:
        module = show(module)
    text = f"module {module!r} has no attribute {name!r}: mindtorch{version} lacks it"
    reason = reason_for(name)
    if reason:
        return AttributeError(f"{text}: {reason}.", name=name)
    near = "" if name.startswith("_") else _NEAR.get((module, name))
    if near is None:
        if len(_NEAR) >= _KEPT:
            _NEAR.clear()
        near = _NEAR[module, name] = suggestion(name, names())
    text += f".{near} If PyTorch has it, ask for it in mindtorch's list of issues."
    return AttributeError(text, name=name)


def lacking(module: ModuleType) -> Callable[[str], NoReturn]:
    """The ``__getattr__`` of a module that has all its names: it says what may have been meant."""

    def lacks(name: str) -> NoReturn:
        raise missing(module.__name__, name, lambda: [n for n in dir(module) if n[0] != "_"])

    return lacks
