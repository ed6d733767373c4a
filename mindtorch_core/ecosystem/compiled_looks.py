"""What ends a graph of PyTorch's: looks at values on which the way through a function depends."""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable
from threading import get_ident
from types import FrameType
from typing import Any, Final

from ..deferred import Pipeline
from ..deferred.context import END_OF_BLOCK
from ..deferred.frames import CORE, INSIDE, request, user_line
from ..deferred.observers import BROKEN_OFF
from ..deferred.trace import location_of
from ..tensors.storage import BEFORE_LOOK, Storage
from ..tensors.tensor import Tensor
from ..values.dtypes import INTEGER, dtype
from ..values.forks import fork_safe
from ..values.interrupts import leaving
from .compiled_flow import Look, returned
from .compiled_marks import NOTHING, Entry, GraphEnds, Mark
from .compiled_rules import known
from .compiled_skipped import is_constant_number

__all__ = ["Looks"]

# Looks that end a graph whatever comes of them, as `Pipeline.stats` has them.
_ENDS: Final = frozenset({
    "allclose()", "backward()", "deepcopy()", "equal()", "grad()", "is_nonzero()", "pickling", "repr()",
})  # fmt: skip
# Those of one number; of PyTorch's only a bool is no number that is computed with.
_NUMBERS: Final = frozenset({
    "complex()", "contains()", "float()", "format()", "index()", "int()", "item()", "size", "tolist()",
})  # fmt: skip
_LOOKS: Final = _NUMBERS | {"bool()"}
# Why an op cannot be deferred that gives a tensor whose size depends on values.
_SIZED: Final = "shape depends on data"
_KEPT: Final = 256
# Whether a look ends a graph, by what has looked and the instructions that led there.
_ENDED: Final[dict[tuple[Any, ...], bool]] = {}
_LOCK: Final = fork_safe(threading.RLock())
_ACTIVE: Final[list[Any]] = []
_BUILTINS: Final[dict[str, Callable[..., Any]]] = {}  # Python's own, while others stand for them


class Looks:
    """The looks at values within a call that is to be one graph, also at values that are there.

    Args:
        refuse: is told of what ends a graph at once.
    """

    def __init__(self, refuse: Callable[[str], None]) -> None:
        self.refuse = refuse
        self.thread = get_ident()
        self._places: dict[tuple[str, str], None] = {}
        self._outermost: FrameType | None = None

    def __enter__(self) -> None:
        self._outermost = sys._getframe(1)
        BEFORE_LOOK.append(self._look)
        BROKEN_OFF.append(self._break)
        with _LOCK:
            if not _ACTIVE:
                for name, instead in _INSTEAD.items():
                    _BUILTINS[name] = getattr(builtins, name)
                    setattr(builtins, name, instead)
            _ACTIVE.append(self)

    def _leave(self) -> None:
        self._outermost = None
        with _LOCK:
            if self in _ACTIVE:
                _ACTIVE.remove(self)
            if not _ACTIVE:
                for name, instead in _INSTEAD.items():
                    if getattr(builtins, name) is instead:
                        setattr(builtins, name, _BUILTINS[name])
        if self._look in BEFORE_LOOK:
            BEFORE_LOOK.remove(self._look)
        if self._break in BROKEN_OFF:
            BROKEN_OFF.remove(self._break)

    __exit__ = leaving(_leave)

    def _look(self, storage: Storage, kind: dtype | None, there: Tensor | None) -> None:
        if get_ident() != self.thread:
            return
        reason = request()
        if reason != "bool()" and there is not None and is_constant_number(there):
            ends = False
        elif reason == "tolist()" and (kind is None or kind.category != INTEGER):
            ends = True
        else:
            ends = reason in _ENDS or (reason in _LOOKS and _ends(reason, self._callers()))
        if ends:
            self._places[reason, location_of(*user_line(2))] = None

    def _break(self, reason: str) -> None:
        if get_ident() == self.thread and reason.endswith(_SIZED) and _ends("", self._callers()):
            self._places["size", location_of(*user_line(2))] = None

    def _callers(self) -> list[FrameType]:
        """The frames of the program within the call, the last one first; none where a layer of ours looks."""
        found, frame = [], sys._getframe(2)
        while CORE[frame.f_globals.get("__name__")] and frame.f_back is not None:
            frame = frame.f_back
        if INSIDE[frame.f_globals.get("__name__")]:
            return []
        while frame is not self._outermost and frame.f_back is not None:
            if not INSIDE[frame.f_globals.get("__name__")]:
                found.append(frame)
            frame = frame.f_back
        return found

    def ends_of_graphs(self, pipe: Pipeline) -> tuple[list[str], bool]:
        """The lines that end a graph of PyTorch's, too: numbers and sizes in it may depend on data.

        Args:
            pipe: the block of the call.

        Returns:
            Also whether all of them do because of numbers or sizes.
        """
        if self._places or not pipe.counts.only(END_OF_BLOCK):
            pipe.stats()  # counts them
            for reason, code, instruction in pipe.counts.counted:
                if reason in _ENDS:
                    self._places[reason, location_of(code, instruction)] = None
        numbers = all(reason in _NUMBERS for reason, _ in self._places)
        return [f"{reason} at {line}" for reason, line in self._places], numbers


def _refused(what: str) -> None:
    """Refuse a call of a builtin, where the program makes it; debuggers may do so, too."""
    caller = str(sys._getframe(2).f_globals.get("__name__")).partition(".")[0]
    for looks in [*_ACTIVE]:
        if looks.thread == get_ident() and caller not in sys.stdlib_module_names:
            looks.refuse(what)


def _printing(*args: Any, **kwargs: Any) -> None:
    """Python's ``print`` while a call that is to be one graph runs."""
    _refused("print() is called")
    _BUILTINS["print"](*args, **kwargs)


def _largest(*args: Any, **options: Any) -> Any:
    """Python's ``max``."""
    return _BUILTINS["max"](*_chosen_from(args, options), **options)


def _smallest(*args: Any, **options: Any) -> Any:
    """Python's ``min``."""
    return _BUILTINS["min"](*_chosen_from(args, options), **options)


def _chosen_from(args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of ``max`` or ``min``: PyTorch's compiler takes tensors without options only."""
    if not options or len(args) != 1:
        return args
    values = [*args[0]]
    key = options.get("key")
    if any(isinstance(v, Tensor) or (key and isinstance(key(v), Tensor)) for v in values):
        _refused("max() or min() with key= or default= chooses among tensors")
    return (values,)


_INSTEAD: Final[dict[str, Callable[..., Any]]] = {
    "max": _largest, "min": _smallest, "print": _printing,
}  # fmt: skip


def _ends(reason: str, frames: list[FrameType]) -> bool:
    """Whether what was looked at ends a graph, by what a function and its callers do with it.

    Args:
        reason: what has looked; empty for an op whose result has a size that depends on values.
        frames: the function's and its callers'.
    """
    key = (reason, *[(f.f_code, f.f_lasti) for f in frames])
    found = _ENDED.get(key)
    if found is None:
        if len(_ENDED) >= _KEPT:
            _ENDED.clear()
        found = _ENDED[key] = _followed(reason, frames)
    return found


def _followed(reason: str, frames: list[FrameType]) -> bool:
    result = NOTHING if reason else Entry(Mark.SIZED)
    for frame in frames:
        code, there = frame.f_code, frame.f_locals
        names = {
            name: known(there[name])
            for name in (*code.co_varnames[: code.co_argcount], *code.co_freevars)
            if name in there
        }
        try:
            result = returned(code, Look(frame.f_lasti, reason, result), names, frame.f_globals)
        except GraphEnds:
            return True
        if not result.is_tainted:
            break
        reason = ""
    return False
