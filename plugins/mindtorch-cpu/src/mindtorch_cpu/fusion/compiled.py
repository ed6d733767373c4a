"""Computing a group with compiled kernels: all of it at once, or tile by tile where it reduces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_core.backend import numel
from mindtorch_core.dispatch.pipeline import Entry

from ..arrays import NUMPY_OF, wrap
from ..compiled import BY_SIZE
from ..memory_pool import POOL
from ..native.kernels import KERNELS, Kernel
from ..native.launch import Launch
from ..native.preparing import Unservable, prepared, prepared_rows
from ..workers import share_out
from .grouping import Block
from .limits import LIMITS
from .recipes import Outside, Recipe, Reduce, Stretch, recipe_of, tensors
from .results import joined, room_for
from .tiles import Tile, cut, of_each_size, tiles

__all__ = ["compute_compiled"]


def compute_compiled(
    block: Block, entries: Sequence[Entry], needed: Sequence[bool]
) -> tuple[list[Any], list[Kernel]] | str:
    """Launch a group with compiled kernels; or say why they cannot, where nothing was done.

    Returns:
        For each entry its result, or None where nobody needs it, and the kernels.

    Args:
        block: the group.
        entries: its entries.
        needed: for each, whether its result is used outside the group.
    """
    if not KERNELS.usable:
        return KERNELS.reason or "the compiler is being loaded"
    if any(numel(e.outs[0].raw_shape) < BY_SIZE.get(e.op.name, 0) for e in entries):
        return "few numbers have a formula of their own"
    recipe = recipe_of(block, entries, needed)
    if isinstance(recipe, str):
        return recipe
    run = _Run(block, entries, needed, recipe)
    try:
        if not run.compute():
            return "the kernel is not there yet"
        return run.results(), run.kernels
    except Unservable as reason:
        return str(reason)


class _Run:
    """One launch of a group."""

    def __init__(
        self, block: Block, entries: Sequence[Entry], needed: Sequence[bool], recipe: Recipe
    ) -> None:
        self.block = block
        self.shape = block.shape or ()
        self.entries = entries
        self.recipe = recipe
        self.reductions = [block.reductions.get(i) for i in block.entries]
        self.outside = [tensors(entries[n])[at].raw_data for n, at in recipe.outside]
        self.full = [
            room_for(e.outs[0]) if want and not e.op.writes and (r is None or r.kept) else None
            for e, want, r in zip(entries, needed, self.reductions, strict=True)
        ]
        self.partial: dict[int, list[Any]] = {}
        self.kernels: list[Kernel] = []

    def compute(self) -> bool:
        """Compute everything; False if a kernel is not there yet, and nothing was done.

        Raises:
            Unservable: if there are no programs for arrays that lie like these; nothing was done.
        """
        single = self.recipe.single
        if single is None:
            return self._in_tiles()
        try:
            launch = self._single(single)
        except Unservable:
            if len(self.recipe.steps) == 1:
                raise
            return self._in_tiles()
        if launch is not None:
            self.kernels.append(launch.kernel)
            launch.run()
        return launch is not None

    def _single(self, step: Stretch) -> Launch | None:
        """The launch of the one kernel."""
        made = [self._columns(n) for n in step.makes]
        arrays = [self.outside[s] for s in step.sources] + made
        shape = self.shape
        if not self.block.reductions and made:
            shape = made[0].shape
        arrays = [_spread(a, shape) for a in arrays]
        if self.block.reductions:
            return prepared_rows(step.graph, arrays, step.numbers, self.block.kept)
        return prepared(step.graph, arrays, step.numbers)

    def _columns(self, n: int) -> Any:
        """The array of an entry's result, the dimensions that it was reduced along of size 1."""
        full, reduction = self.full[n], self.reductions[n]
        if full is None or reduction is None or reduction.keepdim:
            return full
        return full.reshape(full.shape + (1,) * (len(self.shape) - reduction.kept))

    def _in_tiles(self) -> bool:
        """Compute tile by tile; False if a kernel is not there."""
        every = tiles(self.shape, self.block.kept, LIMITS.tile_elements)
        if not all(self._tile(0, each, ask=True) for each in of_each_size(every, self.shape)):
            return False
        for step in self.recipe.steps:
            if isinstance(step, Reduce) and self._to_one(step):
                self.partial[step.entry] = [None] * len(every)

        def work(number: int) -> None:
            self._tile(number, every[number])

        share_out(work, range(len(every)))
        return True

    def _to_one(self, step: Reduce) -> bool:
        reduction = self.reductions[step.entry]
        return reduction is not None and reduction.kept == 0

    def _tile(self, number: int, tile: Tile, ask: bool = False) -> bool:
        """Compute a tile; or only ``ask`` whether there are kernels for all of its steps."""
        made: dict[int, Any] = {}
        for step in self.recipe.steps:
            if isinstance(step, Reduce):
                if not ask:
                    self._reduce(step, number, tile, made)
                elif not self._to_one(step):
                    made[step.entry] = self._part(step.entry, tile)
                continue
            for n in step.makes:
                made[n] = self._part(n, tile)
            arrays = [self._operand(s, tile, made) for s in step.sources]
            arrays += [made[n] for n in step.makes]
            shape = np.broadcast_shapes(*(a.shape for a in arrays))
            arrays = [_spread(a, shape) for a in arrays]  # kept until it has run: it has addresses
            launch = prepared(step.graph, arrays, step.numbers, at_once=not ask)
            if launch is None:
                if not ask:  # other tiles are computed, and may have been written to what they read
                    raise RuntimeError("a kernel of a group could not be made")
                return False
            if not ask:
                launch.run()
            elif launch.kernel not in self.kernels:
                self.kernels.append(launch.kernel)
        return True

    def _operand(self, source: int, tile: Tile, made: dict[int, Any]) -> Any:
        return cut(self.outside[source], tile) if source.__class__ is Outside else made[source]

    def _part(self, n: int, tile: Tile) -> Any:
        """Where a tile of an entry's result goes: into the whole one, or memory of its own."""
        full, reduction = self.full[n], self.reductions[n]
        if full is not None:
            return cut(full, tile) if reduction is None else full[tile[: reduction.kept]]
        t = self.entries[n].outs[0]
        lead = len(tile) - len(t.raw_shape)
        shape = tuple(
            1 if size == 1 else len(range(*part.indices(size)))
            for size, part in zip(t.raw_shape, tile[lead:], strict=False)
        )
        return POOL.empty(shape, NUMPY_OF[t.raw_dtype])

    def _reduce(self, step: Reduce, number: int, tile: Tile, made: dict[int, Any]) -> None:
        entry, reduction = self.entries[step.entry], self.reductions[step.entry]
        operand = tensors(entry)[0]
        data = wrap(self._operand(step.source, tile, made), operand.raw_dtype)
        args = [data if a is operand else a for a in entry.args]
        found = entry.op.impl(*args, **entry.kwargs).raw_data
        if reduction is not None and reduction.kept == 0:
            self.partial[step.entry][number] = found
            return
        if self.full[step.entry] is not None:  # what is written to it later must arrive there
            part = self._part(step.entry, tile).reshape(found.shape)
            np.copyto(part, found)
            found = part
        made[step.entry] = found

    def results(self) -> list[Any]:
        """The results of the entries."""
        out: list[Any] = []
        for n, (entry, full, reduction) in enumerate(
            zip(self.entries, self.full, self.reductions, strict=True)
        ):
            t = entry.outs[0]
            if entry.op.writes:
                out.append(t)
            elif n in self.partial and reduction is not None:
                found = joined(reduction.join, self.partial[n], NUMPY_OF[t.raw_dtype])
                out.append(wrap(found, t.raw_dtype))
            else:
                out.append(None if full is None else wrap(full.reshape(t.raw_shape), t.raw_dtype))
        return out


def _spread(array: Any, shape: tuple[int, ...]) -> Any:
    """An array as it is broadcast to a shape."""
    return array if array.shape == shape else np.broadcast_to(array, shape)
