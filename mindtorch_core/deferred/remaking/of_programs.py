"""Programs in which values are made again where a late instruction reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...values.shapes import numel, storage_extent
from ..programs.program import Instruction, Program, Ref, Value, refs_of
from .choosing import Again, Memory, Work, chosen

__all__ = ["chosen_of", "remade"]


def remade(program: Program) -> Program:
    """A program that holds less at its fullest moment; the same one if nothing is gained.

    Values that it makes again have numbers of their own, behind all others.
    """
    again, saved = chosen_of(program)
    return _Remade(program, again).program(saved) if again else program


def chosen_of(program: Program) -> tuple[list[Again], int]:
    """What a program had better make again, and by how many bytes less it holds for it."""
    works = [_work_of(each, program.values) for each in program.instructions]
    return chosen(works, _memories_of(program))


def _work_of(each: Instruction, values: Sequence[Value]) -> Work:
    op = each.op
    reads = {values[n].memory for n in refs_of((each.args, each.kwargs))}
    outs = [values[o].memory for o in each.outs if o is not None]
    if op.definition is None:  # whatever it writes, nobody has told
        return Work([*reads], [m for m in outs if m not in reads], [*reads], False)
    if op.writes or op.view:
        return Work([*reads], [], outs if op.writes else [], False)
    return Work([*reads], outs, [], op.remakes and len(each.outs) == 1)


def _memories_of(program: Program) -> list[Memory]:
    values = program.values
    found = [Memory(0) for _ in range(1 + max((v.memory for v in values), default=0))]
    for v in values:
        nbytes = storage_extent(v.shape, v.strides, 0) * v.dtype.itemsize if numel(v.shape) else 0
        found[v.memory].nbytes = max(nbytes, found[v.memory].nbytes)
    for n in program.inputs:
        memory = found[values[n].memory]
        memory.there = True
        memory.seen = memory.seen or n not in program.donated
    for n in program.outputs:
        found[values[n].memory].seen = True
    last = {int(n): i for i, n in _uses(program)}
    for i, each in enumerate(program.instructions):
        if each.op.view:
            for o in each.outs:
                if o is not None:
                    found[values[o].memory].views.append((i, last.get(o, i)))
    return found


def _uses(program: Program) -> Iterator[tuple[int, Ref]]:
    for i, each in enumerate(program.instructions):
        for n in refs_of((each.args, each.kwargs)):
            yield i, n


class _Remade:
    """Goes through a program once, and writes the other one."""

    def __init__(self, program: Program, again: Sequence[Again]) -> None:
        self._program = program
        self._values = [*program.values]
        self._memories = 1 + max(v.memory for v in program.values)
        self._now: dict[int, int] = {}  # by value, the one that stands for it from here on
        self._instructions: list[Instruction] = []
        self._positions: list[int] = []
        self._again: dict[int, int] = {}
        todo = iter(again)
        following = next(todo, None)
        for i, each in enumerate(program.instructions):
            while following is not None and following.before == i:
                self._make(following)
                following = next(todo, None)
            self._add(self._renamed(each), i)

    def program(self, saved: int) -> Program:
        """The other program.

        Args:
            saved: by how many bytes less it holds.
        """
        of = self._program
        return Program(
            of.device, self._instructions, self._values, of.inputs, of.numbers, of.outputs, [*of.donated],
            self._positions, of.key, self._again, saved,
        )  # fmt: skip

    def _add(self, each: Instruction, at: int) -> None:
        self._instructions.append(each)
        self._positions.append(self._program.positions[at])

    def _make(self, again: Again) -> None:
        made: dict[int, int] = {}  # what only this is made of
        program = self._program
        for i in again.makers:
            each = program.instructions[i]
            (out,) = each.outs
            assert out is not None
            made[out] = self._new(out, None)
            self._again[len(self._instructions)] = program.positions[i]
            args, kwargs = (
                self._replaced(v, {**self._now, **made}) for v in (each.args, each.kwargs)
            )
            self._add(each._replace(args=args, kwargs=kwargs, outs=(made[out],)), again.before)
        itself = next(reversed(made))
        self._now[itself] = made[itself]

    def _renamed(self, each: Instruction) -> Instruction:
        if not any(int(n) in self._now for n in refs_of((each.args, each.kwargs))):
            return each
        args, kwargs = (self._replaced(v, self._now) for v in (each.args, each.kwargs))
        outs = each.outs
        if each.op.view:
            base = next(refs_of(args))
            memory = self._values[base].memory
            shown = [o for o in outs if o is not None]
            self._now.update({o: self._new(o, memory) for o in shown})
            outs = tuple([o if o is None else self._now[o] for o in outs])
        return each._replace(args=args, kwargs=kwargs, outs=outs)

    def _new(self, n: int, memory: int | None) -> int:
        """The number of a new value that is like another one.

        Args:
            n: the other one.
            memory: where it lies; None for memory of its own.
        """
        if memory is None:
            memory = self._memories
            self._memories += 1
        self._values.append(self._values[n]._replace(memory=memory))
        return len(self._values) - 1

    def _replaced(self, value: Any, by: dict[int, int]) -> Any:
        if isinstance(value, Ref):
            return Ref(by.get(int(value), value))
        if isinstance(value, tuple | list):
            return type(value)([self._replaced(each, by) for each in value])
        if isinstance(value, dict):
            return {k: self._replaced(each, by) for k, each in value.items()}
        return value
