"""What ends a graph of PyTorch's: looks at values on which the way through a function depends."""

from __future__ import annotations

import builtins
import dis
import threading
from collections.abc import Callable, Iterator
from threading import get_ident
from types import CodeType
from typing import Any, Final

from ..deferred import Pipeline
from ..deferred.context import END_OF_BLOCK
from ..deferred.frames import request, user_line
from ..deferred.trace import location_of
from ..tensors.storage import BEFORE_LOOK, Storage
from ..values.forks import fork_safe
from ..values.interrupts import leaving

__all__ = ["Looks"]

Place = tuple[str, CodeType, int]

# Looks that end a graph whatever comes of them, as `Pipeline.stats` has them.
_ENDS: Final = frozenset({
    "allclose()", "backward()", "deepcopy()", "equal()", "grad()", "is_nonzero()", "pickling", "repr()",
    "tolist()",
})  # fmt: skip
_LOOKS: Final = frozenset({"bool()", "contains()", "float()", "int()", "item()"})
# Instructions of the rest of an expression.
_WITHIN: Final = (
    "BINARY", "CACHE", "CALL", "COMPARE", "CONTAINS", "COPY", "LOAD", "PRECALL", "PUSH", "TO_BOOL", "UNARY",
)  # fmt: skip
_SILENT: Final = frozenset({"CACHE", "TO_BOOL"})
_ASKING_TYPES: Final = frozenset({"callable", "hasattr", "isinstance", "type"})
_CHOOSING: Final = frozenset({"all", "any"})  # of Python's functions: they go on by each truth
_INTO_OBJECTS: Final = frozenset({"STORE_ATTR", "STORE_SLICE", "STORE_SUBSCR"})
_LOCK: Final = fork_safe(threading.RLock())
_ACTIVE: Final[list[Any]] = []
_PRINT: Final[list[Callable[..., None]]] = [print]


class Looks:
    """The looks at values within a call that is to be one graph, also at values that are there.

    Args:
        refuse: is told of what ends a graph at once.
    """

    def __init__(self, refuse: Callable[[str], None]) -> None:
        self.refuse = refuse
        self.thread = get_ident()
        self._places: list[Place] = []

    def __enter__(self) -> None:
        BEFORE_LOOK.append(self._look)
        with _LOCK:
            if not _ACTIVE:
                _PRINT[0], builtins.print = builtins.print, _printing
            _ACTIVE.append(self)

    def _leave(self) -> None:
        with _LOCK:
            if self in _ACTIVE:
                _ACTIVE.remove(self)
            if not _ACTIVE and builtins.print is _printing:
                builtins.print = _PRINT[0]
        if self._look in BEFORE_LOOK:
            BEFORE_LOOK.remove(self._look)

    __exit__ = leaving(_leave)

    def _look(self, storage: Storage) -> None:
        if get_ident() == self.thread:
            self._places.append((request(), *user_line(2)))

    def ends_of_graphs(self, pipe: Pipeline) -> list[str]:
        """The lines that end a graph of PyTorch's, too: numbers and sizes in it may depend on data.

        Args:
            pipe: the block of the call.
        """
        if not self._places and pipe.counts.only(END_OF_BLOCK):
            return []
        pipe.stats()  # counts them
        found = {
            f"{reason} at {location_of(code, instruction)}": None
            for reason, code, instruction in [*pipe.counts.counted, *self._places]
            if reason in _ENDS or (reason in _LOOKS and _decides(code, instruction))
        }
        return [*found]


def _printing(*args: Any, **kwargs: Any) -> None:
    """Python's ``print`` while a call that is to be one graph runs."""
    for looks in [*_ACTIVE]:
        if looks.thread == get_ident():
            looks.refuse("print() is called")
    _PRINT[0](*args, **kwargs)


def _decides(code: CodeType, instruction: int) -> bool:
    """Whether what an instruction looked at decides on the way through a function, as far as this tells.

    That is in the same expression, or in those in which a variable with the value comes, as long as it
    has that: a branch, the times of a loop, the key of a dict; an ``assert`` is none.
    """
    steps = [*dis.get_instructions(code)]
    waiting, seen = [instruction], set[int]()
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        start = next((n for n, step in enumerate(steps) if step.offset >= at), None)
        if start is None:
            continue
        end = next(
            (n for n in range(start, len(steps)) if not steps[n].opname.startswith(_WITHIN)), None
        )
        if end is None:
            continue
        if _ends_graph(steps, start, end):
            return True
        if steps[end].opname.startswith("STORE_") and steps[end].opname not in _INTO_OBJECTS:
            waiting += _loads(steps, end)
    return False


def _ends_graph(steps: list[dis.Instruction], start: int, end: int) -> bool:
    """Whether an expression with a value of a tensor, up to one of the steps, ends a graph."""
    if any(_calls(steps, steps[n], _CHOOSING) for n in range(start, end)):
        return True
    last = steps[end]
    if last.opname == "GET_ITER":
        return end > 1 and _calls(steps, steps[end - 1], frozenset({"range"}))
    if "JUMP" not in last.opname or "IF" not in last.opname or "NONE" in last.opname:
        return False
    asked = next(s for s in reversed(steps[:end]) if s.opname not in _SILENT)
    if _calls(steps, asked, _ASKING_TYPES):
        return False
    after = next((step for step in steps[end + 1 :] if step.opname != "NOT_TAKEN"), last)
    return "AssertionError" not in (after.argrepr, after.argval) and "ASSERTION" not in after.opname


def _loads(steps: list[dis.Instruction], stored: int) -> Iterator[int]:
    """The offsets at which a variable is loaded that a step has stored, until it is stored again."""
    name, *more = _names(steps[stored])
    if more:  # stored, and another one loaded, by one instruction
        return
    for step in steps[stored + 1 :]:
        if step.opname.startswith("STORE_") and name in _names(step)[:1]:
            return
        if step.opname.startswith("LOAD_") and name in _names(step):
            yield step.offset


def _names(step: dis.Instruction) -> tuple[Any, ...]:
    return step.argval if isinstance(step.argval, tuple) else (step.argval,)


def _calls(steps: list[dis.Instruction], step: dis.Instruction, names: frozenset[str]) -> bool:
    """Whether a step calls a function of one of these names."""
    callee = _start(step) if step.opname.startswith("CALL") else None
    return callee is not None and any(
        s.argval in names and s.opname.startswith("LOAD") and _start(s) == callee for s in steps
    )


def _start(step: dis.Instruction) -> tuple[int | None, int] | None:
    """Where the expression of an instruction starts in its file, a call's with the name of what is called."""
    at = step.positions
    return None if at is None or at.col_offset is None else (at.lineno, at.col_offset)
