"""Runs: element-wise instructions one after the other, which one compiled kernel computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_core.backend import Instruction, Program, Ref, Shape, numel

from ..arrays import ZEROS
from ..compiled import FEWEST
from .formulas import WITH_ZERO, Formula, formula_of

__all__ = ["Rows", "Run", "Steps", "last_uses", "refs", "run_from"]

# What runs compute, numbered: the number is their key among compiled functions.
_NUMBERS: Final[dict[Any, int]] = {}
# Calls of NumPy that one kernel replaces sooner, however few the elements.
_MANY: Final = 3
# What NumPy does in smaller steps than a processor can, and from how many elements that tells.
_SLOW: Final = frozenset({"maximum", "minimum", "sqrt"})
_SOME: Final = 1 << 10


class Rows(NamedTuple):
    """A shape whose last dimensions are reduced.

    Attributes:
        shape: the whole one.
        kept: how many dimensions are not reduced.
    """

    shape: Shape
    kept: int

    @property
    def reduced(self) -> Shape:
        """What values have that were reduced, the last dimensions of size 1."""
        return self.shape[: self.kept] + (1,) * (len(self.shape) - self.kept)

    def as_matrix(self, shape: Shape) -> tuple[int, ...] | None:
        """A shape with its rows in a dimension: (rows, width), (rows, 1) or (width,); None for others."""
        lines, width = numel(self.shape[: self.kept]), numel(self.shape[self.kept :])
        if shape == self.shape:
            return lines, width
        if shape == self.reduced:
            return lines, 1
        inner = self.shape[self.kept :]
        alone = (1,) * (len(shape) - len(inner)) + inner
        return (width,) if shape == alone else None


class Run(NamedTuple):
    """Instructions that one kernel computes.

    Attributes:
        instructions: how many they are.
        result: a value like all that are made.
        inputs: values and numbers that the kernel takes, one of the run's shape first.
        outputs: values that are made, and used elsewhere.
        writes: whether it changes inputs.
        key: identifies what is computed.
        trace: makes the results of a `Tracer` and of arrays in place of the inputs.
        rows: which it reduces, if it does.
    """

    instructions: int
    result: int
    inputs: tuple[Any, ...]
    outputs: tuple[int, ...]
    writes: bool
    key: tuple[str, int]
    trace: Callable[..., list[Any]]
    rows: Rows | None = None


class _Step(NamedTuple):
    """One instruction of a run.

    Attributes:
        name, compute: see `Formula`; None to compute for a reduction of rows.
        operands: ``("made", n)`` for what a step makes, ``("given", input)``, ``("zero", dtype)``.
        into: the input that it changes; None for one that makes something.
    """

    name: str
    compute: Any
    operands: tuple[Any, ...]
    into: Any


class Steps:
    """Instructions that one kernel is to compute, as they are found.

    Attributes:
        made: values by the step that makes them.
        calls: of NumPy that they take.
    """

    def __init__(self, program: Program, first: int) -> None:
        self.made: dict[int, int] = {}
        self.calls = 0
        self._program = program
        self._first = first
        self._steps: list[_Step] = []
        self._found: dict[Any, None] = {}  # the inputs, in order

    def __len__(self) -> int:
        return len(self._steps)

    def outside(self, operands: Sequence[Any]) -> list[int]:
        """The values among operands that are there before."""
        return [int(arg) for arg in operands if isinstance(arg, Ref) and arg not in self.made]

    def add(self, instruction: Instruction, formula: Formula, *, given: bool = False) -> None:
        """Take an instruction in; one that writes to what is ``given`` makes no value."""
        (out,) = instruction.outs
        assert out is not None
        into = (True, int(out)) if given else None
        operands = self._operands(formula.operands)
        if instruction.op.name in WITH_ZERO:
            operands.insert(0, ("zero", self._program.values[out].dtype))
        self._append(_Step(formula.name, formula.compute, tuple(operands), into), int(out))
        self.calls += formula.calls

    def reduce(self, instruction: Instruction, name: str) -> None:
        """Take in a reduction of rows by its name in `native.program.REDUCTIONS`."""
        (out,) = instruction.outs
        assert out is not None
        operands = tuple(self._operands(instruction.args[:1]))
        self._append(_Step(name, None, operands, None), int(out))

    def _append(self, step: _Step, out: int) -> None:
        if step.into is None:
            self.made[out] = len(self._steps)
        self._steps.append(step)

    def _operands(self, given: Sequence[Any]) -> list[Any]:
        operands: list[Any] = []
        for arg in given:
            if isinstance(arg, Ref) and int(arg) in self.made:
                operands.append(("made", self.made[int(arg)]))
                continue
            name = (isinstance(arg, Ref), int(arg))
            self._found[name] = None
            operands.append(("given", name))
        return operands

    @property
    def inputs(self) -> list[int]:
        """The values that are there before."""
        return [n for is_value, n in self._found if is_value]

    def pay(self, elements: int) -> bool:
        """Whether one kernel takes less time than NumPy's calls."""
        if self.calls == 1:
            return self._steps[0].name in _SLOW and elements >= _SOME
        return self.calls >= (2 if elements >= FEWEST else _MANY)

    def run(self, last: dict[int, int], shape: Shape, rows: Rows | None = None) -> Run:
        """All of it, whose results have a shape, or what its rows are reduced to."""
        values, steps = self._program.values, self._steps
        inputs = sorted(self._found, key=lambda i: not (i[0] and values[i[1]].shape == shape))
        outputs = tuple(n for n in self.made if last[n] >= self._first + len(steps))
        result = self._program.instructions[self._first].outs[0]
        assert result is not None
        kept = tuple(self.made[n] for n in outputs)
        kind = "run" if rows is None else "rows"
        key = kind, _number_of(steps, inputs, kept)
        trace = _trace_of(steps, inputs, kept)
        writes = any(step.into is not None for step in steps)
        return Run(len(steps), int(result), tuple(inputs), outputs, writes, key, trace, rows)


def run_from(program: Program, first: int, last: dict[int, int]) -> Run | None:
    """The run that begins with an instruction, or None.

    Args:
        program: of the instructions.
        first: position of the instruction.
        last: the program's `last_uses`.
    """
    found = Steps(program, first)
    shape = None
    touched = _Touched(program)
    for instruction in islice(program.instructions, first, None):
        op, formula = instruction.op, formula_of(program, instruction)
        if formula is None:
            break
        out = instruction.outs[0]
        assert out is not None
        kind = program.values[out].shape, program.values[out].dtype
        if shape is None:
            shape = kind
            if not numel(kind[0]):
                return None
        read = found.outside(formula.operands)
        given = op.writes and out not in found.made
        if kind != shape or not touched.may(read, int(out) if given else None):
            break
        found.add(instruction, formula, given=given)
    if shape is None or not found.pay(numel(shape[0])):
        return None
    return found.run(last, shape[0])


class _Touched:
    """What a run reads and writes of memory that is there before."""

    def __init__(self, program: Program) -> None:
        self._values = program.values
        self._seen: dict[int, set[int]] = {}  # by memory, the values
        self._written: set[int] = set()

    def may(self, read: Sequence[int], written: int | None) -> bool:
        """Whether an instruction may be part of it: what is written is seen in one way only."""
        more: dict[int, set[int]] = {}
        for n in (*read, *(() if written is None else (written,))):
            more.setdefault(self._values[n].memory, set()).add(n)
        changed = None if written is None else self._values[written].memory
        for memory, values in more.items():
            writes = memory in self._written or memory == changed
            if writes and len(values.union(self._seen.get(memory, ()))) > 1:
                return False
        for memory, values in more.items():
            self._seen.setdefault(memory, set()).update(values)
        if changed is not None:
            self._written.add(changed)
        return True


def _number_of(steps: Sequence[_Step], inputs: Sequence[Any], kept: tuple[int, ...]) -> int:
    place = {n: i for i, n in enumerate(inputs)}

    def told(operand: Any) -> Any:
        return place[operand[1]] if operand[0] == "given" else operand

    text = tuple([(s.name, s.into and place[s.into], *map(told, s.operands)) for s in steps])
    return _NUMBERS.setdefault((text, kept), len(_NUMBERS))


def _trace_of(
    steps: Sequence[_Step], inputs: Sequence[Any], kept: tuple[int, ...]
) -> Callable[..., list[Any]]:
    def trace(tracer: Any, *arrays: Any) -> list[Any]:
        results: list[Any] = []
        given = dict(zip(inputs, arrays, strict=True))
        values: Any = {"made": results, "given": given, "zero": ZEROS}
        for step in steps:
            operands = [values[how][at] for how, at in step.operands]
            reduces = step.compute is None
            found = tracer.reduced(step.name, *operands) if reduces else step.compute(*operands)
            if step.into is not None:
                np.copyto(given[step.into], found)
            results.append(found)
        return [results[i] for i in kept]

    return trace


def last_uses(program: Program) -> dict[int, int]:
    """By value, the position of the last instruction that has it; behind all, where a call returns it."""
    last: dict[int, int] = {}
    for at, each in enumerate(program.instructions):
        used = refs((*each.args, *each.kwargs.values()))
        last.update((n, at) for n in used)
        last.update((int(n), at) for n in each.outs if n is not None)
    last.update((int(n), len(program.instructions)) for n in program.outputs)
    return last


def refs(values: Sequence[Any]) -> set[int]:
    """The values among arguments, lists looked into."""
    found: set[int] = set()
    for value in values:
        if isinstance(value, Ref):
            found.add(int(value))
        elif isinstance(value, list | tuple):
            found |= refs(value)
    return found
