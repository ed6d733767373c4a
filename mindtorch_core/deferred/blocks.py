"""Blocks: which pipelines are open in a thread, and what ends a ``with`` block."""

from __future__ import annotations

import sys
import threading
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, overload

from ..values.interrupts import from_entry
from ..values.references import LOOK
from .demand import Claim
from .dependence import memory_of
from .observers import BESIDE

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..tensors.tensor import Tensor
    from .context import Pipeline

__all__ = [
    "RESUMED",
    "SPARE",
    "STACK",
    "Block",
    "End",
    "Exit",
    "block_of",
    "current_pipeline",
    "flush_current",
    "resume_all",
    "resume_readers",
]

# Why a pipeline flushes whose block an interrupt has ended.
RESUMED: Final = "after an interrupt"


class _Stack(threading.local):
    """The pipelines of one thread; what is called often reads ``__dict__``, as it does of `MASKS`.

    Attributes:
        open: those whose blocks are open, innermost last.
        left: those whose blocks were left by an interrupt before all of their ops ran.
        thread: which one it is.
    """

    def __init__(self) -> None:
        self.open: list[Pipeline] = []
        self.left: list[weakref.ref[Pipeline]] = []
        self.thread = threading.get_ident()


STACK: Final = _Stack()
# Makes an object without calling its class, which takes three times as long.
_new: Final = object.__new__
_getrefcount: Final = sys.getrefcount
_weakrefs: Final = weakref.getweakrefcount
# Ends of blocks that are over, with pipelines that nobody else holds: the next blocks take them.
SPARE: Final[list[End]] = []
_SPARE: Final = 8  # of them


class Block:
    """A block of a pipeline.

    Attributes:
        of: the pipeline.
        open: whether it has begun and not ended.
        stack, left: what `STACK` holds for its thread.
        watch: ends the block if the `with` statement goes without having done so.
        claim: that of the pipeline, between two blocks; None for another one.
    """

    __slots__ = ("claim", "left", "of", "open", "stack", "watch")

    claim: Claim | None
    left: list[weakref.ref[Pipeline]]
    of: Pipeline
    open: bool
    stack: list[Pipeline]
    watch: weakref.ref[End] | None

    def abandoned(self, end: weakref.ref[End]) -> None:
        """End the block, as nobody else will."""
        if self.open:
            self.of.close(self)


def block_of(
    of: Pipeline, own: dict[str, Any], end: End | None = None, *, open: bool = False
) -> Block:
    """A block of a pipeline.

    Args:
        of: the pipeline.
        own: what `STACK` holds for this thread.
        end: what ends it.
        open: whether it has begun.
    """
    if BESIDE and not open:
        for note in BESIDE:
            note("torch.pipeline()")
    block = _new(Block)
    block.of, block.open = of, open
    block.stack, block.left = own["open"], own["left"]
    block.watch = None if end is None else weakref.ref(end, block.abandoned)
    block.claim = None
    return block


class End:
    """What a ``with`` statement calls at the end of its block.

    The statement holds it, and nobody else does. So where an interrupt comes before the first line of
    the call, it dies with the statement, and the block ends then; what it has recorded runs when
    somebody asks for it.

    Attributes:
        of: the pipeline.
        block: the block, once it has begun.
        spare: what the block will be; None for a new one.
    """

    __slots__ = ("__weakref__", "block", "of", "spare")

    of: Pipeline
    block: Block | None
    spare: Block | None

    @from_entry
    def __call__(self, *exc_info: object) -> None:
        """Launch what was recorded, and end the block."""
        try:
            of = self.of
            of.leave(block := self.block)
            if (
                of.usual
                and of.claim is None  # nothing is left over
                and not of.aliases
                and block is not None
                and _getrefcount(of) <= 2 + LOOK  # only this and the block hold it
                and not _weakrefs(of)
                and len(SPARE) < _SPARE
            ):
                of.place = of.counted = None
                of.uncounted, of.walked = (), 0
                self.block, self.spare = None, block
                SPARE.append(self)
        except BaseException:  # an interrupt, before the first line of that
            if self.block is not None and self.block.open:
                self.of.close(self.block)
            raise


class Exit:
    """The descriptor ``__exit__``: gives each ``with`` statement an `End` of its own."""

    @overload
    def __get__(self, of: None, owner: type[Pipeline]) -> Callable[..., None]: ...
    @overload
    def __get__(self, of: Pipeline, owner: type[Pipeline]) -> End: ...
    def __get__(self, of: Pipeline | None, owner: type[Pipeline]) -> End | Callable[..., None]:
        if of is None:  # `contextlib.ExitStack` looks here, and holds what it finds
            return lambda of, *exc_info: _end(of)(*exc_info)
        end = of.end
        if end is None:
            end = _end(of)
        else:
            of.end = None
        of.announced = weakref.ref(end)  # `__enter__` is what the statement calls next
        return end


def _end(of: Pipeline) -> End:
    end = _new(End)
    end.of = of
    end.block = end.spare = None
    return end


def current_pipeline() -> Pipeline | None:
    """The innermost pipeline open in this thread, or None."""
    stack = STACK.__dict__["open"]
    return stack[-1] if stack else None


def flush_current() -> None:
    """Launch what this thread's open pipelines have recorded, and what interrupts have left over."""
    resume_all()
    for pipe in [*STACK.open]:
        pipe.flush()
        if pipe.launching:
            break  # a kernel of its asks: what blocks within it have recorded comes later


def flush_draws() -> None:
    """Launch what this thread's open pipelines have recorded if an op of it draws random numbers."""
    if STACK.left or any(pipe.draws() for pipe in STACK.open):
        flush_current()


def resume_all() -> None:
    """Launch all that interrupts have left over in this thread."""
    left = STACK.left
    if left:
        for ref in [*left]:
            pipe = ref()
            if pipe is not None:
                with suppress(Exception):  # who uses the results is told, not who comes next
                    pipe.flush_because(RESUMED)
        left.clear()


def resume_readers(t: Tensor) -> None:
    """Launch what interrupts have left over in this thread, as far as it uses a tensor's memory."""
    for ref in [*STACK.left]:
        pipe = ref()
        if pipe is not None:
            pipe.resume([], [memory_of(t)])
