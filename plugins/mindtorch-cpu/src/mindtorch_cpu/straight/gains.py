"""Whether tiles of the cache's size save more than it costs to plan them at each launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_core.backend import Instruction, Program, Ref, numel

from ..fusion.classify import is_elementwise, reduction_of
from ..fusion.limits import LIMITS
from .runs import Run, last_uses

__all__ = ["Find", "shown", "tiles_pay"]

Find = Callable[[Program, int, dict[int, int]], Run | None]


def tiles_pay(program: Program, find: Find) -> bool:
    """Whether a program is better computed in tiles.

    They save the way to memory and back of each value that goes from one large element-wise op to the
    next, unless one kernel computes both without a plan. To plan an op costs as much as such a way of half
    as many elements as are called large.

    Args:
        program: recorded ops.
        find: gives the instructions that one kernel computes, see `runs.run_from`.
    """
    values, least = program.values, LIMITS.min_elements
    if all(numel(v.shape) < least for v in values):
        return False
    saved = 0
    fusible: dict[int, int] = {}  # values that stay in a tile, and the run that makes each
    for each, run in zip(program.instructions, _runs(program, find), strict=True):
        if not each.outs or not _is_fusible(program, each):
            continue
        read = {int(a) for a in (*each.args, *each.kwargs.values()) if isinstance(a, Ref)}
        saved += sum(numel(values[n].shape) for n in read if fusible.get(n, run) != run)
        out = each.outs[0]
        if out is not None and numel(values[out].shape) >= least:
            fusible[int(out)] = run
    return saved > 0 and 2 * saved >= len(program.instructions) * least


def _runs(program: Program, find: Find) -> list[int]:
    """For each instruction a number, which those that one kernel computes share."""
    found: list[int] = []
    last = last_uses(program)
    while (at := len(found)) < len(program.instructions):
        run = find(program, at, last)
        found += [at] * (1 if run is None else run.instructions)
    return found


class _Shown:
    """A value as what is recorded has it."""

    def __init__(self, value: Any) -> None:
        self.raw_shape, self.raw_dtype = value.shape, value.dtype
        self._geometry = value.strides, value.offset

    def raw_geometry(self) -> Any:
        """Strides and offset."""
        return self._geometry


class _Entry:
    """An instruction as what is recorded: with tensors in the place of their numbers."""

    def __init__(self, program: Program, instruction: Instruction) -> None:
        values = program.values
        self.op = instruction.op
        self.args = [_Shown(values[a]) if isinstance(a, Ref) else a for a in instruction.args]
        self.outs = [_Shown(values[o]) for o in instruction.outs if o is not None]


def shown(program: Program, instruction: Instruction) -> Any:
    """An instruction as an entry of a launch, for those who look at entries."""
    return _Entry(program, instruction)


def _is_fusible(program: Program, instruction: Instruction) -> bool:
    entry = shown(program, instruction)
    return is_elementwise(entry) or reduction_of(entry) is not None
