"""Runs: element-wise instructions one after the other, which one compiled kernel computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_core.backend import Program, Ref, numel

from ..arrays import ZEROS
from ..compiled import FEWEST
from .formulas import WITH_ZERO, formula_of

__all__ = ["Run", "last_uses", "refs", "run_from"]

# What runs compute, numbered: the number is their key among compiled functions.
_NUMBERS: Final[dict[Any, int]] = {}
# Calls of NumPy that one kernel replaces sooner, however few the elements.
_MANY: Final = 3
# What NumPy does in smaller steps than a processor can, and from how many elements that tells.
_SLOW: Final = frozenset({"maximum", "minimum", "sqrt"})
_SOME: Final = 1 << 10


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
    """

    instructions: int
    result: int
    inputs: tuple[Any, ...]
    outputs: tuple[int, ...]
    writes: bool
    key: tuple[str, int]
    trace: Callable[..., list[Any]]


class _Step(NamedTuple):
    """One instruction of a run.

    Attributes:
        name, compute: see `Formula`.
        operands: ``("made", n)`` for what a step makes, ``("given", input)``, ``("zero", dtype)``.
        into: the input that it changes; None for one that makes something.
    """

    name: str
    compute: Callable[..., Any]
    operands: tuple[Any, ...]
    into: Any


def run_from(program: Program, first: int, last: dict[int, int]) -> Run | None:
    """The run that begins with an instruction, or None.

    Args:
        program: of the instructions.
        first: position of the instruction.
        last: the program's `last_uses`.
    """
    steps: list[_Step] = []
    made: dict[int, int] = {}  # values by the step that makes them
    found: dict[Any, None] = {}  # the inputs, in order
    calls = 0
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
        read = [int(arg) for arg in formula.operands if isinstance(arg, Ref) and arg not in made]
        given = op.writes and out not in made
        if kind != shape or not touched.may(read, int(out) if given else None):
            break
        operands: list[Any] = []
        for arg in formula.operands:
            if isinstance(arg, Ref) and int(arg) in made:
                operands.append(("made", made[int(arg)]))
                continue
            name = (isinstance(arg, Ref), int(arg))
            found[name] = None
            operands.append(("given", name))
        if op.name in WITH_ZERO:
            operands.insert(0, ("zero", kind[1]))
        if not given:
            made[int(out)] = len(steps)
        into = (True, int(out)) if given else None
        steps.append(_Step(formula.name, formula.compute, tuple(operands), into))
        calls += formula.calls
    if shape is None or not _pays(steps, calls, numel(shape[0])):
        return None
    inputs = sorted(found, key=lambda i: not (i[0] and program.values[i[1]].shape == shape[0]))
    outputs = tuple(n for n in made if last[n] >= first + len(steps))
    result = program.instructions[first].outs[0]
    assert result is not None
    key = "run", _number_of(steps, inputs, kept := tuple(made[n] for n in outputs))
    trace = _trace_of(steps, inputs, kept)
    writes = any(step.into is not None for step in steps)
    return Run(len(steps), int(result), tuple(inputs), outputs, writes, key, trace)


def _pays(steps: Sequence[_Step], calls: int, elements: int) -> bool:
    """Whether one kernel takes less time than NumPy's calls."""
    if calls == 1:
        return steps[0].name in _SLOW and elements >= _SOME
    return calls >= (2 if elements >= FEWEST else _MANY)


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
            found = step.compute(*[values[how][at] for how, at in step.operands])
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
