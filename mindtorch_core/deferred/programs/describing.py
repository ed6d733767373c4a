"""From recorded ops to a program: one walk finds its key, and a second one makes it if it is new."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ...tensors.tensor import Tensor
from ...values.references import LOOK
from ...values.shapes import Shape
from ..dependence import memory_of
from ..exactly import INEXACT, exactly
from ..telling import TELLING, told_at
from ..trace import NO_OPTIONS, TENSORS, Entry
from .program import Instruction, Number, Program, Ref, Value, refs_of

__all__ = ["Description", "Undescribable"]

_getrefcount = sys.getrefcount
_PLAIN: Final = frozenset({int, float, complex, bool})


class Undescribable(Exception):
    """An argument that no key can hold, or an operand that neither is there nor is what an op gives."""


class Description:
    """One walk over recorded ops.

    Attributes:
        entries: the ops.
        inputs: the tensors that are there before.
        numbers: the Python numbers to compute with.
        outputs: the tensors whose values are wanted.
        tensors: all tensors, by their number.
        number_of: by id of a tensor, its number.
        key: equal for ops of the same structure of which the same results can be seen.

    Args:
        entries: the ops, in program order.
        donates: whether to look for inputs that nobody can see.
        apart: whether inputs count as tensors with memory of their own, also where they share it.

    Raises:
        Undescribable: if an argument is not hashable.
    """

    __slots__ = (
        "_apart", "_donated", "_held", "_made", "_memories", "_memory_of", "_parts", "_sharers",
        "_sharers_of", "_starts", "_values", "_viewed",
        "entries", "inputs", "key", "number_of", "numbers", "outputs", "tensors",
    )  # fmt: skip

    def __init__(
        self, entries: Sequence[Entry], *, donates: bool = False, apart: bool = False
    ) -> None:
        self.entries = entries
        self.inputs: list[Tensor] = []
        self.numbers: list[Any] = []
        self.tensors: list[Tensor] = []
        self.number_of: dict[int, int] = {}  # by id of a tensor
        self._held: list[int] = []  # by number, how often the ops refer to the tensor
        self._memories: dict[int, int] = {}
        self._memory_of: list[int] = []  # by number: a launch in a signal handler may change it
        self._apart = apart
        self._viewed: dict[int, int] = {}  # by id of a view that an op makes, its memory
        self._starts: dict[int, int] = {}  # by memory, where its first tensor begins, in bytes
        self._sharers: dict[int, list[int]] = {}  # by id of a storage, the tensors that have it
        self._sharers_of: list[list[int]] = []  # the same by number, for the reason above
        self._made: list[int] = []  # numbers of results that are no views
        self._parts: list[Any] = []
        self._values: list[Value] | None = None
        for entry in entries:
            self._add(entry)
        wanted = [n for n in self._made if self._memory_seen(n)]
        self._donated = [] if not donates else self._dying()
        self.outputs = [self.tensors[n] for n in wanted]
        try:
            self.key = (*self._parts, -1, *wanted, -1, *self._donated)
            hash(self.key)
        except TypeError as error:
            raise Undescribable from error

    def _add(self, entry: Entry) -> None:
        op, args, kwargs, outs = entry[:4]
        parts = self._parts
        parts += op.number, len(args), len(outs)
        if op.name in TELLING:
            parts += entry.code, entry.instruction
        numbers = op.numbers
        for i, value in enumerate(args):
            if TENSORS[value.__class__]:
                self._use(value, 1)
            else:
                self._describe(value, i in numbers)
        for name, value in kwargs.items():
            parts.append(name)
            self._describe(value, name in numbers)
        for t in outs:
            if self._apart and op.view:
                self._viewed[id(t)] = self._memory_id(args[0])
            if id(t) in self.number_of:
                n = self.number_of[id(t)]
                self._held[n] += 1
                parts.append(n)
            else:
                if not (op.writes or op.view):
                    self._made.append(len(self.tensors))
                self._meet(t, 1)
                base = t._base
                if base is not None and id(base) in self.number_of:
                    self._held[self.number_of[id(base)]] += 1

    def _describe(self, value: Any, numeric: bool) -> None:
        kind = value.__class__
        if TENSORS[kind]:
            self._use(value, 1)
        elif kind in _PLAIN and numeric:
            self._parts.append(kind)
            self.numbers.append(value)
        elif kind is list or kind is tuple:
            self._parts += kind, len(value)
            for each in value:  # a tuple may be the user's: its tensors count as seen
                if TENSORS[each.__class__]:
                    self._use(each, kind is list)
                else:
                    self._describe(each, False)
        elif kind in INEXACT:
            self._parts += kind, exactly(value)
        else:
            self._parts += kind, value

    def _use(self, t: Tensor, held: int) -> None:
        n = self.number_of.get(id(t))
        if n is None:
            self.inputs.append(t)
            self._meet(t, held + 1)
        else:
            self._held[n] += held
            self._parts.append(n)

    def _meet(self, t: Tensor, held: int) -> None:
        """Number a tensor, and describe it."""
        n = self.number_of[id(t)] = len(self.tensors)
        self.tensors.append(t)
        self._held.append(held + 1)  # that of the list above
        storage = t._storage
        sharers = [] if storage is None else self._sharers.setdefault(id(storage), [])
        sharers.append(n)
        self._sharers_of.append(sharers)
        memory = self._memories.setdefault(self._memory_id(t), len(self._memories))
        self._memory_of.append(memory)
        self._parts += n, memory, t._shape, t._dtype, t._device, self._geometry_of(t, memory)

    def _geometry_of(self, t: Tensor, memory: int) -> tuple[Shape, int]:
        """Strides, and the offset from the first tensor of the same memory."""
        strides, offset = t._geometry()
        size = t._dtype.itemsize
        start = self._starts.setdefault(memory, offset * size)
        relative, rest = divmod(offset * size - start, size)
        if rest:
            raise Undescribable
        return strides, relative

    # ---- who can see what ----------------------------------------------------------------------

    def _seen(self, n: int) -> bool:
        """Whether somebody refers to a tensor besides the ops, this walk and this look."""
        t = self.tensors[n]
        return _getrefcount(t) > self._held[n] + LOOK

    def _storage_seen(self, n: int) -> bool:
        """Whether somebody refers to a tensor's storage besides the tensors of the ops."""
        storage = self.tensors[n]._storage
        return _getrefcount(storage) > len(self._sharers_of[n]) + LOOK

    def _memory_seen(self, n: int) -> bool:
        """Whether somebody can see a result, or a view of it."""
        storage = self.tensors[n]._storage
        if storage is None or storage.memory is not None:
            return True
        del storage
        return self._storage_seen(n) or any(self._seen(i) for i in self._sharers_of[n])

    def needs_more(self) -> bool:
        """Whether an operand shows in its own way what an op has still to make."""
        return any(
            t._payload is None and s is not None and s.memory is None and s.size_bytes
            for t in self.inputs
            for s in (t._storage,)
        )

    def _dying(self) -> list[int]:
        """Inputs that nobody can see after this launch, and whose memory no other tensor has."""
        return [n for n in map(self.number_of.__getitem__, map(id, self.inputs)) if self._dies(n)]

    def _dies(self, n: int) -> bool:
        t = self.tensors[n]
        storage = t._storage
        if t._base is not None:
            return False
        if storage is not None:
            if storage.memory is None:  # it is made after all, under another tensor
                return False
            if storage.root is not storage or len(self._sharers_of[n]) > 1:
                return False
            if storage.live_views():
                return False
            del storage
            if self._storage_seen(n):
                return False
        del t
        return not self._seen(n)

    # ---- the program ---------------------------------------------------------------------------

    def program(self, device: str) -> Program:
        """The ops as a program, without those that make nothing that anybody needs."""
        instructions, values = self.instructions(), self.values
        wanted = {self._memory_of[self.number_of[id(t)]] for t in self.outputs}
        positions = []
        for at in range(len(instructions) - 1, -1, -1):
            each = instructions[at]
            made = {values[o].memory for o in each.outs if o is not None}
            if each.op.pure and not made & wanted:
                continue
            wanted |= made | {values[n].memory for n in refs_of((each.args, each.kwargs))}
            positions.append(at)
        positions.reverse()
        return Program(
            device,
            [_telling(instructions[at]) for at in positions],
            values,
            [self.number_of[id(t)] for t in self.inputs],
            [type(v) for v in self.numbers],
            [self.number_of[id(t)] for t in self.outputs],
            self._donated,
            positions,
            self.key,
        )

    @property
    def values(self) -> list[Value]:
        """What the tensors are."""
        if self._values is None:
            self._values = [
                Value(t._shape, t._dtype, t._device, *self._geometry_of(t, memory), memory)
                for t, memory in zip(self.tensors, self._memory_of, strict=True)
            ]
        return self._values

    def _memory_id(self, t: Tensor) -> int:
        if not self._apart:
            return id(memory_of(t))
        own = t._payload is not None and t._base is not None
        return self._viewed.get(id(t)) or id(t if own else memory_of(t))

    def instructions(self) -> list[Instruction]:
        """All ops as instructions."""
        number_of, counter = self.number_of, iter(range(len(self.numbers)))
        used: set[int] = {number_of[id(t)] for t in self.outputs}
        for entry in self.entries:
            used.update(number_of[id(t)] for t in _tensors_of((entry.args, entry.kwargs)))
        found = []
        for entry in self.entries:
            op, args, kwargs, outs = entry[:4]
            places = [number_of[id(t)] for t in outs]
            several = len(outs) > 1 and not op.writes
            found.append(
                Instruction(
                    op,
                    tuple(
                        [self._numbered(v, i in op.numbers, counter) for i, v in enumerate(args)]
                    ),
                    {k: self._numbered(v, k in op.numbers, counter) for k, v in kwargs.items()}
                    or NO_OPTIONS,
                    tuple([n if not several or n in used else None for n in places]),
                    (entry.code, entry.instruction),
                )
            )
        return found

    def _numbered(self, value: Any, numeric: bool, counter: Iterator[int]) -> Any:
        kind = value.__class__
        if TENSORS[kind]:
            return Ref(self.number_of[id(value)])
        if kind in _PLAIN and numeric:
            return Number(next(counter))
        if kind is list or kind is tuple:
            return kind([self._numbered(each, False, counter) for each in value])
        return value


def _telling(instruction: Instruction) -> Instruction:
    op = instruction.op
    if op.name not in TELLING:
        return instruction
    return instruction._replace(op=told_at(op, instruction.where))


def _tensors_of(value: Any) -> Iterator[Tensor]:
    if TENSORS[value.__class__]:
        yield value
    elif isinstance(value, tuple | list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _tensors_of(each)
