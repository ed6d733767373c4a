"""Computing a group: its entries one after the other on each tile, with this backend's kernels.

A value that only the group uses exists as a tile at a time, in memory that is still in the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_core.dispatch.pipeline import Entry
from mindtorch_core.shapes import contiguous_strides
from mindtorch_core.tensor import Tensor

from ..arrays import NUMPY_OF, quietly, wrap
from ..pool import POOL
from ..workers import share_out
from .grouping import Block
from .limits import LIMITS
from .tiles import Tile, cut, tiles

__all__ = ["compute"]


def compute(block: Block, entries: Sequence[Entry], needed: Sequence[bool]) -> list[Any]:
    """Launch a group; returns for each entry its result, or None where nobody needs it.

    Args:
        block: the group.
        entries: its entries.
        needed: for each, whether its result is used outside the group.
    """
    return _Run(block, entries, needed).results()


class _Run:
    """One launch of a group."""

    def __init__(self, block: Block, entries: Sequence[Entry], needed: Sequence[bool]) -> None:
        shape = block.shape or ()
        self.entries = entries
        self.index = tiles(shape, block.kept, LIMITS.tile_elements)
        self.reductions = [block.reductions.get(i) for i in block.entries]
        made = {id(e[3][0]) for e in entries if not e[0].writes}
        self.made = made
        self.full: list[Any] = []
        self.partial: list[list[Any] | None] = []
        for entry, reduction, want in zip(entries, self.reductions, needed, strict=True):
            whole = reduction is not None and reduction.kept == 0
            self.partial.append([None] * len(self.index) if whole else None)
            fresh = want and not whole and not entry[0].writes
            self.full.append(_room_for(entry[3][0]) if fresh else None)
        self.last_use, self.complete = self._last_uses()

    def _last_uses(self) -> tuple[list[list[int]], list[list[int]]]:
        """After each entry, the values no later one needs, and the entries whose value is final."""
        last: dict[int, int] = {}
        changed: dict[int, int] = {}
        maker: dict[int, int] = {}
        for n, entry in enumerate(self.entries):
            for t in (*entry[1], *entry[3]):
                if t.__class__ is Tensor and id(t) in self.made:
                    last[id(t)] = n
            out = id(entry[3][0])
            if out in self.made:
                maker.setdefault(out, n)
                changed[out] = n
        count = range(len(self.entries))
        uses = [[v for v, at in last.items() if at == n] for n in count]
        final = [[maker[v] for v, at in changed.items() if at == n] for n in count]
        return uses, final

    def results(self) -> list[Any]:
        """Compute every tile and put the results together."""
        share_out(self._tile, range(len(self.index)))
        out: list[Any] = []
        for entry, full, partial in zip(self.entries, self.full, self.partial, strict=True):
            t = entry[3][0]
            if entry[0].writes:
                out.append(t)
            elif partial is not None:
                out.append(_joined(entry, partial))
            else:
                out.append(None if full is None else wrap(full, t._dtype))
        return out

    def _tile(self, number: int) -> None:
        tile = self.index[number]
        values: dict[int, Tensor] = {}
        for n, entry in enumerate(self.entries):
            op, args, kwargs, outs = entry[0], entry[1], entry[2], entry[3]
            given = [self._tile_of(a, values, tile) for a in args]
            options = {k: self._tile_of(v, values, tile) for k, v in kwargs.items()}
            result = op.impl(*given, **options)
            partial = self.partial[n]
            if partial is not None:
                partial[number] = result._data
                continue
            if not op.writes:
                values[id(outs[0])] = result
            for at in self.complete[n]:
                self._store(at, tile, result)
            for v in self.last_use[n]:
                values.pop(v, None)

    def _store(self, n: int, tile: Tile, value: Tensor) -> None:
        """Put a tile of an entry's result into its place, if the result is needed as a whole."""
        full = self.full[n]
        if full is not None:
            reduction = self.reductions[n]
            where = cut(full, tile) if reduction is None else full[tile[: reduction.kept]]
            np.copyto(where, value._data)

    def _tile_of(self, value: Any, values: dict[int, Tensor], tile: Tile) -> Any:
        """The part of an argument that a tile needs."""
        if value.__class__ is not Tensor:
            return value
        found = values.get(id(value))
        return wrap(cut(value._data, tile), value._dtype) if found is None else found


def _room_for(t: Tensor) -> Any:
    """An array for a whole result, laid out as the tensor that was handed out for it."""
    shape, d = t._shape, NUMPY_OF[t._dtype]
    strides = contiguous_strides(shape) if t._layout is None else t._layout[0]
    if strides == contiguous_strides(shape):
        return POOL.empty(shape, d)
    order = sorted(range(len(shape)), key=lambda i: -strides[i])
    dense = POOL.empty(tuple(shape[i] for i in order), d)
    return dense.transpose(np.argsort(order))


def _joined(entry: Entry, partial: list[Any]) -> Tensor:
    """The reduction of what each tile was reduced to."""
    d = entry[3][0]._dtype
    parts = np.array([p.item() if p.ndim == 0 else p for p in partial])
    if entry[0].name == "aten::sum":
        total = quietly(np.add.reduce, parts)
    else:
        total = (np.maximum if entry[0].name == "aten::amax" else np.minimum).reduce(parts)
    return wrap(np.array(quietly(np.asarray(total).astype, NUMPY_OF[d])), d)
