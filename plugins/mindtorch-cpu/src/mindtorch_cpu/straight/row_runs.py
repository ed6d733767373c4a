"""Runs that reduce rows: one compiled kernel makes sums or maxima of rows, and all before and after them."""

from __future__ import annotations

from itertools import islice

from mindtorch_core.backend import Instruction, Program, Value, float32, float64, numel

from ..fusion.classify import Reduction, reduction_of
from ..fusion.recipes import REDUCTIONS
from ..large import LARGE
from ..native.kernels import KERNELS
from ..native.launch import LONGEST_SUM, pieces_of
from ..native.preparing import SHORTEST_SUM
from .formulas import formula_of
from .gains import shown
from .runs import Rows, Run, Steps, run_from

__all__ = ["kernel_from"]


def kernel_from(program: Program, first: int, last: dict[int, int]) -> Run | None:
    """The run that begins with an instruction, reductions of rows included; see `run_from`.

    None where nothing is compiled.
    """
    if not KERNELS.usable:
        return None
    return _rows_from(program, first, last) or run_from(program, first, last)


def _rows_from(program: Program, first: int, last: dict[int, int]) -> Run | None:
    values, found, rows = program.values, Steps(program, first), None
    whole = _reduced_or_made(program, program.instructions[first])
    if whole is None or whole.dtype not in (float32, float64) or numel(whole.shape) < LARGE:
        return None
    for instruction in islice(program.instructions, first, None):
        out = next(iter(instruction.outs), None)
        if out is None or instruction.op.writes or values[out].dtype is not whole.dtype:
            break
        reduction = _reduction(program, instruction)
        if reduction is not None:
            asked = Rows(whole.shape, reduction.kept)
            if rows not in (None, asked) or values[instruction.args[0]].shape != whole.shape:
                break
            rows = asked
            found.reduce(instruction, REDUCTIONS[instruction.op.name])
            continue
        formula = formula_of(program, instruction)
        shapes = (whole.shape,) if rows is None else (whole.shape, rows.reduced)
        if formula is None or values[out].shape not in shapes:
            break
        found.add(instruction, formula)
    if rows is None or len(found) < 2:
        return None
    if any(rows.as_matrix(values[n].shape) is None for n in found.inputs):
        return None
    return found.run(last, whole.shape, rows)


def _reduced_or_made(program: Program, instruction: Instruction) -> Value | None:
    """What has the whole shape: the operand of a reduction, or the result of another op."""
    args, outs = instruction.args, instruction.outs
    if _reduction(program, instruction) is not None:
        outs = args[:1]
    return None if not outs or outs[0] is None else program.values[outs[0]]


def _reduction(program: Program, instruction: Instruction) -> Reduction | None:
    """How an instruction reduces rows, if a kernel makes the same bits."""
    found = (
        None if instruction.outs[:1] in ((), (None,)) else reduction_of(shown(program, instruction))
    )
    if found is None or not (found.kept and found.keepdim):
        return None
    value = program.values[instruction.args[0]]
    width = numel(value.shape[found.kept :])
    if instruction.op.name == "aten::sum":
        serves = width >= SHORTEST_SUM and pieces_of(width) > 0
    else:
        serves = width <= LONGEST_SUM
    return found if serves and numel(value.shape) >= LARGE else None
