"""Which recorded ops run together.

Entries are taken in program order. An element-wise entry joins an earlier group of the same
iteration shape if it may run there: after everything it depends on, and with no access to memory
that something between reads or writes otherwise. So updates of several parameters that the program
interleaves become one group each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from mindtorch_core.backend import Shape, Tensor, numel
from mindtorch_core.dispatch.pipeline import Entry, tensors_of

from .classify import Reduction, is_elementwise, reduction_of
from .limits import LIMITS

__all__ = ["Block", "group_entries", "memory_of", "operands_of"]

_LOOK_BACK: Final = 64

Geometry = tuple[Shape, Any]


class Block:
    """Entries that run together, or one that runs alone.

    Attributes:
        entries: their positions.
        shape: the iteration shape of a group, None for an entry alone.
        kept: leading dimensions that tiles may cut; the others stay whole, for reductions of them.
        rows: shape of values reduced with ``keepdim``, None where there are none.
        reductions: by position of the entry, how it reduces.
        late: ids of values that are complete only when every tile is done.
        recipes: how compiled kernels compute the group, by what that depends on.
    """

    __slots__ = (
        "_reads", "_writes", "entries", "kept", "late", "recipes", "reductions", "rows", "shape",
    )  # fmt: skip

    def __init__(self, shape: Shape | None) -> None:
        self.entries: list[int] = []
        self.shape = shape
        self.kept = 0 if shape is None else len(shape)
        self.rows: Shape | None = None
        self.reductions: dict[int, Reduction] = {}
        self.late: set[int] = set()
        self.recipes: dict[Any, Any] = {}
        self._reads: dict[int, set[Geometry]] = {}
        self._writes: dict[int, set[Geometry]] = {}

    def add(self, i: int, entry: Entry, reads: Sequence[Tensor]) -> None:
        """Take an entry in, and remember what memory it touches."""
        self.entries.append(i)
        if self.shape is None:
            return
        for t in reads:
            self._reads.setdefault(memory_of(t), set()).add(geometry(t))
        if entry.op.writes:
            t = entry.outs[0]
            self._writes.setdefault(memory_of(t), set()).add(geometry(t))

    def with_more(self, positions: Iterable[int]) -> Block:
        """The same group with entries of others, whose values are only used in it."""
        block = Block(self.shape)
        block.entries = sorted({*self.entries, *positions})
        block.kept, block.rows = self.kept, self.rows
        block.reductions, block.late = self.reductions, self.late
        return block

    def conflicts(self, entry: Entry, reads: Sequence[Tensor]) -> bool:
        """Whether an entry touches memory of the group at other places than the group does."""
        for t in reads:
            written = self._writes.get(memory_of(t))
            if written is not None and written != {geometry(t)}:
                return True
        if not entry.op.writes:
            return False
        out = entry.outs[0]
        read = self._reads.get(memory_of(out))  # what is written counts as read too
        return read is not None and read != {geometry(out)}


def memory_of(t: Tensor) -> int:
    """What identifies the memory of a tensor: its storage, or itself where it shares none."""
    return id(t) if t.raw_storage is None else id(t.raw_storage)


def geometry(t: Tensor) -> Geometry:
    """Which elements of its memory a tensor shows, and in which order."""
    return t.raw_shape, t.raw_geometry()


def operands_of(entry: Entry) -> list[Tensor]:
    """The tensors among an entry's arguments."""
    return list(tensors_of((*entry.args, *entry.kwargs.values())))


def _overlaps_itself(entry: Entry) -> bool:
    """Whether an entry reads the memory it writes at other places: ``x[1:].add_(x[:-1])``.

    Or writes some of it several times, as one that fills what `expand` has made: what a tile has written
    another one would read, for which it is another element.
    """
    if not entry.op.writes:
        return False
    out = entry.outs[0]
    if _may_repeat(out.raw_shape, out.raw_geometry()[0]):
        return True
    memory, own = memory_of(out), geometry(out)
    return any(memory_of(t) == memory and geometry(t) != own for t in operands_of(entry))


def _may_repeat(shape: Shape, strides: Shape) -> bool:
    """Whether a layout may show some element several times."""
    reach = 0
    for step, size in sorted(zip(strides, shape, strict=True)):
        if size > 1 and step <= reach:
            return True
        reach += step * (size - 1)
    return False


class _Grouping:
    """The state of going through the entries once."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.made_in: dict[int, int] = {}  # value (id of its tensor) -> block
        self.stored_in: dict[int, int] = {}  # memory -> block that makes it
        self.written_in: dict[int, int] = {}  # memory -> last block that writes it
        self.read_in: dict[int, int] = {}  # memory -> last block that reads it

    def place(self, i: int, entry: Entry) -> None:
        reads = operands_of(entry)
        reduction = reduction_of(entry)
        shape = self._iteration_shape(entry, reduction)
        at = None
        if shape is not None and not entry.op.repeats:  # what is made again must not be made before
            at = self._joinable(entry, reads, shape, reduction)
        if at is None:
            at = len(self.blocks)
            self.blocks.append(Block(shape))
        block = self.blocks[at]
        block.add(i, entry, reads)
        if block.shape is not None and reduction is not None:
            self._reduce(block, i, entry, reduction)
        for t in reads:
            memory = memory_of(t)
            self.read_in[memory] = max(self.read_in.get(memory, -1), at)
        for t in entry.outs:
            if entry.op.writes:
                self.written_in[memory_of(t)] = at
            else:
                self.made_in[id(t)] = at
                self.stored_in.setdefault(memory_of(t), at)

    def _iteration_shape(self, entry: Entry, reduction: Reduction | None) -> Shape | None:
        """The shape a group with this entry would iterate over; None if it runs alone."""
        if reduction is not None:
            source: Shape = entry.args[0].raw_shape
            return source if numel(source) >= LIMITS.min_elements else None
        if not is_elementwise(entry) or _overlaps_itself(entry):
            return None
        shape = entry.outs[0].raw_shape
        if numel(shape) >= LIMITS.min_elements:
            return shape
        return shape if self._rows_somewhere(shape) else None

    def _rows_somewhere(self, shape: Shape) -> bool:
        return any(b.rows == shape for b in self.blocks[-_LOOK_BACK:])

    def _joinable(
        self, entry: Entry, reads: Sequence[Tensor], shape: Shape, reduction: Reduction | None
    ) -> int | None:
        """The block that an entry can join, or None."""
        earliest = 0
        for t in reads:
            earliest = max(earliest, self._ready_in(t), self.written_in.get(memory_of(t), -1))
        if entry.op.writes:
            earliest = max(earliest, self.read_in.get(memory_of(entry.outs[0]), -1))
        last = len(self.blocks) - 1
        for at in range(last, max(earliest, last - _LOOK_BACK) - 1, -1):
            block = self.blocks[at]
            fits = block.shape == shape or (
                block.rows == shape and block.shape is not None and reduction is None
            )
            if fits and self._reduces_alike(block, reduction) and not block.conflicts(entry, reads):
                return at
        return None

    def _ready_in(self, t: Tensor) -> int:
        """The first block that can read a tensor, as far as it depends on what makes it."""
        made = self.made_in.get(id(t))
        if made is not None:
            return made + (id(t) in self.blocks[made].late)
        # Not handed out itself: it shows the memory of one that was, which is there after its block.
        return self.stored_in.get(memory_of(t), -1) + 1

    def _reduces_alike(self, block: Block, reduction: Reduction | None) -> bool:
        """Whether a group can take a reduction: all of its row reductions keep the same dims.

        What all is reduced to is joined of tiles: none may be larger than it is without rows.
        """
        if reduction is None or block.shape is None:
            return True
        if reduction.kept == 0:
            return self._fits_tiles(block.shape, block.kept)
        if block.kept == reduction.kept:
            return True
        return block.kept == len(block.shape) and (
            not block.reductions or self._fits_tiles(block.shape, reduction.kept)
        )

    def _fits_tiles(self, shape: Shape, kept: int) -> bool:
        return numel(shape[kept:]) <= LIMITS.tile_elements

    def _reduce(self, block: Block, i: int, entry: Entry, reduction: Reduction) -> None:
        block.reductions[i] = reduction
        shape = block.shape or ()
        if reduction.kept == 0:
            block.late.add(id(entry.outs[0]))
            return
        block.kept = reduction.kept
        if reduction.keepdim:
            block.rows = shape[: reduction.kept] + (1,) * (len(shape) - reduction.kept)
        else:
            block.late.add(id(entry.outs[0]))  # its shape does not line up with the others'


def group_entries(entries: Sequence[Entry | None]) -> list[Block]:
    """Divide entries into blocks, in an order in which they may be launched."""
    grouping = _Grouping()
    for i, entry in enumerate(entries):
        if entry is not None:
            grouping.place(i, entry)
    for block in grouping.blocks:
        if block.shape is not None and not _worthwhile(block):
            block.shape = None
    return grouping.blocks


def _worthwhile(block: Block) -> bool:
    """Whether tiles pay: for a single op the kernel itself does as well."""
    return len(block.entries) > 1
