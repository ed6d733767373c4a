"""Computing a group: its entries one after the other on each tile, with this backend's kernels.

A value that only the group uses exists as a tile at a time, in memory that is still in the cache.
Ops that are one NumPy ufunc write their result where it belongs: into the whole result if that is
needed, over an operand that is not needed any more, else into fresh memory. Others go through their
kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch_core.backend import FLOATING, Tensor, numel
from mindtorch_core.dispatch.pipeline import Entry

from ..arrays import NUMPY_OF, QUIET, WIDER, row_major, scalar, wrap
from ..ops.ufuncs import UFUNCS
from ..workers import share_out
from .classify import Reduction
from .grouping import Block
from .limits import LIMITS
from .results import joined, room_for
from .tiles import Tile, cut, spans, tiles

__all__ = ["compute"]


def compute(block: Block, entries: Sequence[Entry], needed: Sequence[bool]) -> list[Any]:
    """Launch a group in tiles; returns for each entry its result, or None where nobody needs it.

    Args:
        block: the group.
        entries: its entries.
        needed: for each, whether its result is used outside the group.
    """
    run = _Run(block, entries, needed)
    share_out(run.tile, range(len(run.tiles)))
    return run.results()


class _Op:
    """One entry as the tiles run it.

    Attributes:
        impl: the kernel.
        ufunc: the NumPy function to call instead, or None.
        args: operands: places in the tile's list of values, or what is to be passed as it is.
        kwargs: the same for keyword arguments.
        out: place of the result.
        into: for a ufunc, the whole array its result belongs to, or the place of an operand to
            write over; None for fresh memory.
        stores: for results that are complete now, their place and the whole array they belong to.
        partial: where a reduction to one element keeps each tile's, or None.
        reduces: whether it is a reduction, whose operand is row-major as a whole: so is each tile then.
    """

    __slots__ = (
        "args", "impl", "into", "kwargs", "out", "partial", "reduces", "stores", "ufunc",
    )  # fmt: skip

    def __init__(self, impl: Callable[..., Any], out: int) -> None:
        self.impl = impl
        self.ufunc: Any = None
        self.into: Any = None
        self.args: list[Any] = []
        self.kwargs: dict[str, Any] = {}
        self.out = out
        self.stores: list[tuple[int, Any, Reduction | None]] = []
        self.partial: list[Any] | None = None
        self.reduces = False


class _Place(int):
    """Position of a value in a tile's list."""


class _Run:
    """One launch of a group."""

    def __init__(self, block: Block, entries: Sequence[Entry], needed: Sequence[bool]) -> None:
        self.entries = entries
        self.reductions = [block.reductions.get(i) for i in block.entries]
        self.outside: list[Any] = []  # arrays of operands that are there already
        self.dtypes: list[Any] = []  # of every value, by place
        self._kept: set[int] = set()  # places of values that are parts of whole results
        self.places: dict[int, int] = {}  # by id of a tensor
        made = {id(e.outs[0]) for e in entries if not e.op.writes}
        for entry in entries:
            self._place_operands(entry, made)
        self.inputs = len(self.outside)
        self.dtypes += [None] * len(entries)
        shape = block.shape or ()
        fresh = [want and not e.op.writes for e, want in zip(entries, needed, strict=True)]
        self.full = [
            room_for(e.outs[0]) if want and (r is None or r.kept) else None
            for e, want, r in zip(entries, fresh, self.reductions, strict=True)
        ]
        self.flat = self._lies_flat(shape)
        if self.flat:
            # What all is reduced to is joined of the same tiles however the operands lie.
            whole = shape if block.reductions else (numel(shape),)
            self.tiles = spans(whole, LIMITS.tile_elements)
            self.outside = [a.reshape(-1) if a.ndim else a for a in self.outside]
            self.full = [None if a is None else a.reshape(-1) for a in self.full]
        else:
            self.tiles = tiles(shape, block.kept, LIMITS.tile_elements)
        self.ops = self._program(made)

    def _place_operands(self, entry: Entry, made: set[int]) -> None:
        """Number the values: operands from outside first, results as they come."""
        for t in (*entry.args, *entry.kwargs.values()):
            if isinstance(t, Tensor) and id(t) not in self.places and id(t) not in made:
                self.places[id(t)] = len(self.outside)
                self.outside.append(t.raw_data)
                self.dtypes.append(t.raw_dtype)

    def _lies_flat(self, shape: tuple[int, ...]) -> bool:
        """Whether the group can run on one long dimension: no rows, every operand row-major."""
        for entry, reduction in zip(self.entries, self.reductions, strict=True):
            if reduction is not None and (reduction.kept or len(entry.args) > 1):
                return False
            if reduction is None and entry.outs[0].raw_shape != shape:
                return False
        arrays = [*self.outside, *(a for a in self.full if a is not None)]
        return all(not a.ndim or (a.shape == shape and a.flags.c_contiguous) for a in arrays)

    # ---- the program of a tile -----------------------------------------------------------------

    def _program(self, made: set[int]) -> list[_Op]:
        last: dict[int, int] = {}
        final: dict[int, int] = {}
        maker: dict[int, int] = {}
        for n, entry in enumerate(self.entries):
            for t in (*entry.args, *entry.kwargs.values(), *entry.outs):
                if isinstance(t, Tensor) and id(t) in made:
                    last[id(t)] = n
            out = id(entry.outs[0])
            if out in made:
                maker.setdefault(out, n)
                final[out] = n
        ops = []
        for n, entry in enumerate(self.entries):
            dying = {v for v, at in last.items() if at == n and maker[v] < n}
            stored = [v for v, at in final.items() if at == n]
            ops.append(self._op(n, entry, dying, [maker[v] for v in stored]))
        return ops

    def _op(self, n: int, entry: Entry, dying: set[int], complete: list[int]) -> _Op:
        out = entry.outs[0]
        if entry.op.writes:
            place = self.places[id(out)]
        else:
            place = self.places[id(out)] = self.inputs + n
            self.dtypes[place] = out.raw_dtype
            if self.full[n] is not None:
                self._kept.add(place)
        op = _Op(entry.op.impl, place)
        op.args = [self._referred(a) for a in entry.args]
        op.kwargs = {k: self._referred(v) for k, v in entry.kwargs.items()}
        reduction = self.reductions[n]
        op.reduces = reduction is not None
        if reduction is not None and reduction.kept == 0:
            op.partial = [None] * len(self.tiles)
        for at in complete:
            full = self.full[at]
            if full is not None:
                of = self.places[id(self.entries[at].outs[0])]
                op.stores.append((of, full, self.reductions[at]))
        if reduction is None:
            self._as_ufunc(op, entry, dying)
        return op

    def _referred(self, value: Any) -> Any:
        return _Place(self.places[id(value)]) if isinstance(value, Tensor) else value

    def _as_ufunc(self, op: _Op, entry: Entry, dying: set[int]) -> None:
        """Let the tiles call the op's ufunc, if it has one for these operands."""
        recorded, args, kwargs, out = entry.op, entry.args, entry.kwargs, entry.outs[0]
        ufunc = UFUNCS.get(recorded.name)
        first = args[0]
        d = first.raw_dtype
        if ufunc is None or kwargs or d.category != FLOATING or d in WIDER:
            return
        given: list[Any] = []
        for a, referred in zip(args, op.args, strict=True):
            if isinstance(a, Tensor):
                if a.raw_dtype is not d:
                    return
                given.append(referred)
            elif a.__class__ is float or a.__class__ is int:
                given.append(scalar(a, d))
            else:
                return
        if recorded.writes and out.raw_dtype is not d:
            return
        op.ufunc, op.args = ufunc, given
        if recorded.writes:
            op.into = _Place(op.out)
        elif [place for place, _, _ in op.stores] == [op.out]:
            (op.into,) = [full for _, full, _ in op.stores]  # written there, not copied
            op.stores = []
        else:
            op.into = next(
                (
                    _Place(self.places[id(a)])
                    for a in args
                    if isinstance(a, Tensor)
                    and id(a) in dying
                    and self.places[id(a)] not in self._kept
                    and a.raw_shape == out.raw_shape
                    and out.raw_dtype is d
                ),
                None,
            )

    # ---- running -------------------------------------------------------------------------------

    def tile(self, number: int) -> None:
        """Compute one tile."""
        tile = self.tiles[number]
        values: list[Any] = self._inputs(tile)
        values += [None] * len(self.ops)
        run = QUIET.run
        for op in self.ops:
            if op.ufunc is not None:
                arrays = [values[a] if a.__class__ is _Place else a for a in op.args]
                into = op.into
                if into is None:
                    made = run(op.ufunc, *arrays)
                elif into.__class__ is _Place:
                    made = run(op.ufunc, *arrays, out=values[into])
                else:
                    made = run(op.ufunc, *arrays, out=self._part(into, tile, None))
            else:
                made = self._by_kernel(op, values)
                if op.partial is not None:
                    op.partial[number] = made
                    continue
            values[op.out] = made
            for place, full, reduction in op.stores:
                np.copyto(self._part(full, tile, reduction), values[place])

    def _by_kernel(self, op: _Op, values: list[Any]) -> Any:
        """Call an op's kernel on a tile; returns the result's array."""
        dtypes = self.dtypes
        given = [wrap(values[a], dtypes[a]) if a.__class__ is _Place else a for a in op.args]
        options = {
            k: wrap(values[v], dtypes[v]) if v.__class__ is _Place else v
            for k, v in op.kwargs.items()
        }
        if op.reduces:  # how it lies decides in which order it is added up
            given[0] = wrap(row_major(given[0].raw_data), given[0].raw_dtype)
        return op.impl(*given, **options).raw_data

    def _inputs(self, tile: Tile) -> list[Any]:
        """The parts of the operands from outside that a tile needs."""
        if self.flat:
            (part,) = tile
            return [a[part] if a.ndim else a for a in self.outside]
        return [cut(a, tile) for a in self.outside]

    def _part(self, full: Any, tile: Tile, reduction: Reduction | None) -> Any:
        if self.flat:
            return full[tile[0]]
        return cut(full, tile) if reduction is None else full[tile[: reduction.kept]]

    def results(self) -> list[Any]:
        """The results of the entries, once every tile is done."""
        out: list[Any] = []
        for entry, full, op, reduction in zip(
            self.entries, self.full, self.ops, self.reductions, strict=True
        ):
            t = entry.outs[0]
            if entry.op.writes:
                out.append(t)
            elif reduction is not None and op.partial is not None:
                d = t.raw_dtype
                out.append(wrap(joined(reduction.join, op.partial, NUMPY_OF[d]), d))
            else:
                out.append(None if full is None else wrap(full.reshape(t.raw_shape), t.raw_dtype))
        return out
