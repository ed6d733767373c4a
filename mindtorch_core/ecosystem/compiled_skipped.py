"""What ends a graph of PyTorch's as its compiler does not go through it: calls of Python's library."""

from __future__ import annotations

import dis
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from types import FrameType
from typing import Any, Final

from ..deferred.frames import INSIDE
from ..tensors.tensor import Tensor
from ..values.dtypes import INTEGER, bool_, int64
from .code_beside import is_beside, is_importing
from .seen_calls import SeesCalls

__all__ = ["Skipped", "is_constant_number"]

_ALL: Final = frozenset({"*"})
# Functions in C, by module.
_IN_C: Final = {
    "_bisect": _ALL, "_hashlib": _ALL, "_heapq": _ALL, "_socket": _ALL, "_thread": _ALL, "binascii": _ALL,
    "builtins": frozenset({"__build_class__", "compile", "dir", "eval", "exec", "globals", "input"}),
    "gc": _ALL, "io": frozenset({"open"}), "_io": frozenset({"open"}), "nt": _ALL, "posix": _ALL,
    "sys": frozenset({"_getframe", "getrefcount", "getsizeof"}), "time": _ALL,
    "_warnings": frozenset({"warn", "warn_explicit"}), "zlib": _ALL,
}  # fmt: skip
_NOW: Final = frozenset({"now", "today", "utcnow"})
# Functions in Python, by module.
_IN_PYTHON: Final = {
    "base64": _ALL, "genericpath": _ALL, "json": _ALL, "pprint": _ALL, "queue": _ALL, "shutil": _ALL,
    "subprocess": _ALL, "tempfile": _ALL, "traceback": _ALL, "uuid": _ALL,
    "copy": frozenset({"copy"}),
    "inspect": frozenset({"currentframe", "stack"}),
    "logging": frozenset({
        "critical", "debug", "error", "exception", "fatal", "getLogger", "info", "isEnabledFor", "log",
        "setLevel", "warn", "warning",
    }),
    "random": frozenset({"choice", "choices", "sample", "seed", "shuffle"}),
    "threading": frozenset({"current_thread"}),
    "warnings": frozenset({"filterwarnings", "resetwarnings", "simplefilter"}),
}  # fmt: skip
# Ours, which PyTorch's compiler does not go through either.
_OF_TORCH: Final = frozenset({
    "get_num_threads", "get_rng_state", "initial_seed", "manual_seed", "resize_", "resize_as_",
    "set_num_threads", "set_rng_state",
})  # fmt: skip
# The same in some modules only, with how errors call them.
_IN_MODULES: Final = {
    ("mindtorch_core.serialization", "load"): "load",
    ("mindtorch_core.serialization", "save"): "save",
    ("mindtorch_nn.optim.optimizer", "hooked"): "an optimizer's step",
    ("mindtorch_nn.optim.optimizer", "zero_grad"): "zero_grad",
}
_DRAWS_FOR_ALL: Final[Any] = getattr(random.random, "__self__", None)
_INDEXING: Final = frozenset({"getitem", "setitem"})
# What calls them once somebody may overrule functions.
_RELAYING: Final = frozenset({"__getitem__", "__setitem__"})
_WITH_ADDRESSES: Final = frozenset({"BINARY_OP", "COMPARE_OP", "CONTAINS_OP"})
_BETWEEN: Final = frozenset({"CACHE", "EXTENDED_ARG", "NOT_TAKEN", "PRECALL"})


def is_constant_number(t: Tensor) -> bool:
    """Whether PyTorch's compiler takes a tensor for the number that it has: a single one that was there."""
    return not (t._shape or t._pending) and t._dtype is int64 and t._device.type == "cpu"


class Skipped(SeesCalls):
    """Sees, while a function runs in this thread for the first time, what it calls.

    Args:
        refuse: is told of what ends a graph, and how PyTorch calls the error: whether numbers are the cause.
        given: the tensors among the function's arguments.
    """

    def __init__(self, refuse: Callable[[str, bool], None], given: Sequence[Tensor] = ()) -> None:
        self._refuse, self._given = refuse, {id(t) for t in given}

    def _see(self, frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and _is_users(frame):
            if _is_skipped(called) and not _is_apart(frame):
                self._refuse(f"{called.__name__}() is called", False)
        elif event == "call":
            caller = frame.f_back
            if caller is not None and caller.f_code.co_name in _RELAYING:
                caller = caller.f_back
            if _is_users(caller):
                self._see_python(frame)

    def _sets_input(self, given: Mapping[str, Any]) -> bool:
        """Whether a method is ``set_``, called in a way that PyTorch's compiler does not go through."""
        args = given.get("args")
        if getattr(given.get("call"), "__name__", "") != "set_" or not isinstance(args, tuple):
            return False
        parts = [*args[1:], *given.get("kwargs", {}).values()]
        return id(args[0]) in self._given or (
            bool(parts) and (len(parts) > 1 or not isinstance(parts[0], Tensor))
        )

    def _see_python(self, frame: FrameType) -> None:
        name, module = frame.f_code.co_name, str(frame.f_globals.get("__name__"))
        if INSIDE[module]:
            if name in _INDEXING:
                if _is_unknown(frame.f_locals.get("index")):
                    self._refuse("an element of a tensor is an index", True)
            elif name in _OF_TORCH or _depends(name, frame.f_locals):
                self._refuse(f"{name}() is called", False)
            elif (called := _IN_MODULES.get((module, name))) is not None:
                self._refuse(f"{called}() is called", False)
            elif name == "call" and self._sets_input(frame.f_locals):
                self._refuse(
                    "set_() of an argument, to a storage or to a part of a tensor is called", False
                )
            elif name == "data" and _is_pending(frame.f_locals):
                self._refuse("data of a tensor is set that the call has made", False)
            elif name == "_assert" and isinstance(
                _argument(frame.f_locals, 0, "condition"), Tensor
            ):
                self._refuse("_assert() of a tensor is called: use _assert_async()", True)
            elif name == "data_ptr" and frame.f_back is not None and _computes_with(frame.f_back):
                self._refuse("data_ptr() is compared, or computed with", False)
            return
        names = _IN_PYTHON.get(module.partition(".")[0])
        if names is not None and (names is _ALL or name in names) and not _is_apart(frame):
            self._refuse(f"{module}.{name}() is called", False)


def _is_pending(given: Mapping[str, Any]) -> bool:
    """Whether ``data`` of a tensor is set that has no elements yet, as the call has made it."""
    is_set = _argument(given, 1, "value") is not None
    return is_set and getattr(_argument(given, 0, "self"), "_pending", False)


def _argument(given: Mapping[str, Any], place: int, name: str) -> Any:
    """An argument of a function of ours; None where it has none."""
    if "mt·args" not in given:
        return given.get(name)
    args = given["mt·args"]  # once somebody may overrule functions
    return args[place] if place < len(args) else given["mt·kwargs"].get(name)


def _depends(name: str, given: Mapping[str, Any]) -> bool:
    """Whether a function of ours is one of them with these arguments."""
    if name == "one_hot":
        return given.get("num_classes") == -1
    if name != "requires_grad_":
        return False
    if "mt·args" in given:  # once somebody may overrule functions
        named = zip(("self", "requires_grad"), given["mt·args"], strict=False)
        given = {"requires_grad": True, **dict(named), **given["mt·kwargs"]}
    t = given.get("self")
    if not (isinstance(t, Tensor) and given["requires_grad"]):
        return False
    return not (t.requires_grad or t._pending)


def _is_users(frame: FrameType | None) -> bool:
    """Whether code is neither this project's nor Python's."""
    if frame is None:
        return False
    name = str(frame.f_globals.get("__name__"))
    first = name.partition(".")[0]
    return not (INSIDE[name] or first in sys.stdlib_module_names or first == "numpy")


def _is_apart(frame: FrameType) -> bool:
    """Whether code is no part of the function that it runs in."""
    return is_importing(frame) or is_beside(frame)


def _is_skipped(called: Callable[..., Any]) -> bool:
    """Whether a function in C is one of them."""
    name, module = called.__name__, called.__module__
    if module is not None:
        names = _IN_C.get(module)
        return names is not None and (names is _ALL or name in names)
    owner = getattr(called, "__self__", None)
    if isinstance(owner, type):
        return name in _NOW and owner.__module__ == "datetime"
    return owner is _DRAWS_FOR_ALL


def _is_unknown(key: Any) -> bool:
    """Whether an index has a single integer, or a single truth, that the call itself has computed."""
    if isinstance(key, tuple | list):
        return any(map(_is_unknown, key))
    if not isinstance(key, Tensor) or key._shape or is_constant_number(key):
        return False
    return key._pending and (key._dtype is bool_ or key._dtype.category == INTEGER)


def _computes_with(frame: FrameType) -> bool:
    """Whether code computes with the address that it has just asked for, and not of one tensor alone."""
    steps = [s for s in dis.get_instructions(frame.f_code) if s.opname not in _BETWEEN]
    at = sum(s.offset <= frame.f_lasti for s in steps)
    if at and "CALL" not in steps[at - 1].opname:  # the call has cells of its own before it
        at += 1
    following = [s.opname for s in steps[at : at + 2]]
    if following[:1] and following[0] in _WITH_ADDRESSES:
        return len({*islice(_owners(steps[:at]), 2)}) != 1
    return (
        len(following) == 2 and following[0].startswith("LOAD_") and following[1] in _WITH_ADDRESSES
    )


def _owners(steps: list[dis.Instruction]) -> Iterator[Any]:
    """Of what the addresses are, the last one first."""
    for before, step in zip(steps[-2::-1], steps[:0:-1], strict=False):
        if step.argval == "data_ptr":
            yield before.argval
