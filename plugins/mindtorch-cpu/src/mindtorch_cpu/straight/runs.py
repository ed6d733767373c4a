"""Runs: element-wise instructions one after the other, which one compiled kernel computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_core.backend import (
    FLOATING,
    WIDER,
    Instruction,
    Number,
    Program,
    Ref,
    contiguous_strides,
    numel,
)

from ..arrays import CPU, ZEROS
from ..compiled import FEWEST
from ..fusion.classify import is_own_kernel
from ..fusion.limits import LIMITS
from ..ops.ufuncs import UFUNCS

__all__ = ["WITH_ZERO", "Run", "plain_ufunc", "run_from"]

# What runs compute, numbered: the number is their key among compiled functions.
_NUMBERS: Final[dict[Any, int]] = {}
# What NumPy computes right where it makes the result's memory itself.
_OF_DENSE: Final[dict[str, Any]] = {"aten::neg": np.negative}
# What a ufunc computes with 0 as its second operand.
WITH_ZERO: Final[dict[str, Any]] = {"aten::relu": np.maximum}
_ALL: Final = {**UFUNCS, **_OF_DENSE, **WITH_ZERO}
# Instructions that one kernel computes sooner than NumPy's calls, however few the elements.
_MANY: Final = 3


class Run(NamedTuple):
    """Instructions that one kernel computes.

    Attributes:
        instructions: how many they are.
        result: a value like all that are made.
        inputs: values and numbers that the kernel takes, one of the run's shape first.
        outputs: values that are used elsewhere.
        key: identifies what is computed.
        trace: makes the results of a `Tracer` and of arrays in place of the inputs.
    """

    instructions: int
    result: int
    inputs: tuple[Any, ...]
    outputs: tuple[int, ...]
    key: tuple[str, int]
    trace: Callable[..., list[Any]]


def plain_ufunc(program: Program, instruction: Instruction) -> Any:
    """The ufunc that an instruction is, on operands for which its kernel is nothing else; or None."""
    op, values = instruction.op, program.values
    ufunc = _ALL.get(op.name)
    if ufunc is None or instruction.kwargs or not is_own_kernel(op):
        return None
    out = instruction.outs[0]
    assert out is not None
    result = values[out]
    if result.dtype.category != FLOATING or result.dtype in WIDER or not result.shape:
        return None
    whole = False
    for arg in instruction.args:
        if isinstance(arg, Ref):
            value = values[arg]
            if value.device is not CPU or value.dtype is not result.dtype or not _plain(value):
                return None
            whole = whole or value.shape == result.shape
        elif not isinstance(arg, Number) or program.numbers[arg] not in (int, float):
            return None
    given = len(instruction.args) + (op.name in WITH_ZERO)
    if not whole or not _plain(result) or given != ufunc.nin:
        return None
    return ufunc


def _plain(value: Any) -> bool:
    """Whether a tensor's elements lie one after the other, in order."""
    return bool(value.strides == contiguous_strides(value.shape))


def run_from(program: Program, first: int) -> Run | None:
    """The run that begins with an instruction, or None."""
    steps: list[tuple[Any, tuple[Any, ...]]] = []
    made: dict[int, int] = {}  # values by the step that makes them
    inputs: list[Any] = []
    shape = None
    for instruction in program.instructions[first:]:
        op = instruction.op
        ufunc = None if op.writes else plain_ufunc(program, instruction)
        if ufunc is None:
            break
        out = instruction.outs[0]
        assert out is not None
        kind = program.values[out].shape, program.values[out].dtype
        if shape is None:
            shape = kind
            if not 0 < numel(kind[0]) < LIMITS.min_elements:
                return None
        if kind != shape:
            break
        operands: list[Any] = []
        for arg in instruction.args:
            if isinstance(arg, Ref) and int(arg) in made:
                operands.append(("made", made[int(arg)]))
                continue
            name = (isinstance(arg, Ref), int(arg))
            if name not in inputs:
                inputs.append(name)
            operands.append(("given", name))
        if op.name in WITH_ZERO:
            operands.append(("zero", kind[1]))
        made[int(out)] = len(steps)
        steps.append((ufunc, tuple(operands)))
    if shape is None or len(steps) < (2 if numel(shape[0]) >= FEWEST else _MANY):
        return None
    inputs.sort(key=lambda i: not (i[0] and program.values[i[1]].shape == shape[0]))
    outputs = _used_elsewhere(program, first, first + len(steps), made)
    text = tuple((u.__name__, tuple(inputs.index(o[1]) if o[0] == "given" else o for o in given))
                 for u, given in steps)  # fmt: skip
    kept = tuple(made[n] for n in outputs)
    number = _NUMBERS.setdefault((text, kept), len(_NUMBERS))

    def trace(tracer: Any, *arrays: Any) -> list[Any]:
        results: list[Any] = []
        given = dict(zip(inputs, arrays, strict=True))
        values: Any = {"made": results, "given": given, "zero": ZEROS}
        for ufunc, operands in steps:
            results.append(ufunc(*[values[how][at] for how, at in operands]))
        return [results[i] for i in kept]

    return Run(len(steps), next(iter(made)), tuple(inputs), outputs, ("run", number), trace)


def _used_elsewhere(
    program: Program, first: int, end: int, made: dict[int, int]
) -> tuple[int, ...]:
    """The values of a run that other instructions take, or that a call returns."""
    used = {int(n) for n in program.outputs}
    for at, instruction in enumerate(program.instructions):
        if not first <= at < end:
            used.update(_refs((*instruction.args, *instruction.kwargs.values())))
            used.update(int(n) for n in instruction.outs if n is not None)
    return tuple(n for n in made if n in used)


def _refs(values: Sequence[Any]) -> set[int]:
    found: set[int] = set()
    for value in values:
        if isinstance(value, Ref):
            found.add(int(value))
        elif isinstance(value, list | tuple):
            found |= _refs(value)
    return found
