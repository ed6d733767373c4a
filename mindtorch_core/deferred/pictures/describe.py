"""From recorded ops to plain descriptions that keep no tensor alive."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from types import CodeType
from typing import Any, NamedTuple

from ...tensors.tensor import Tensor
from ...values.dtypes import dtype
from ...values.shapes import numel
from ..trace import Entry, location_of, tensors_of
from .nodes import Node, Use

__all__ = ["Describer"]

_LONGEST_CONSTANT = 40


class _Value(NamedTuple):
    """A tensor that was seen: its number, and the op it comes from."""

    ref: weakref.ref[Tensor]
    number: int
    maker: int | None


class _Memory(NamedTuple):
    """Memory that was seen: the op that wrote it last, and those that have read it since."""

    ref: weakref.ref[Any]
    writer: int | None
    readers: list[int]


class Describer:
    """Describes ops in program order, and remembers which made what.

    Tensors and memory are remembered weakly, so a trace can be described in parts, and what nobody
    can see any more can still be dropped.
    """

    def __init__(self) -> None:
        self._ops = 0
        self._groups = 0
        self._seen = 0
        self._values: dict[int, _Value] = {}
        self._memory: dict[int, _Memory] = {}
        self._locations: dict[tuple[CodeType, int], str] = {}

    def copy(self) -> Describer:
        """Another one that knows as much, to describe ops that will be described again."""
        twin = Describer()
        twin._ops, twin._groups, twin._seen = self._ops, self._groups, self._seen
        twin._values = dict(self._values)
        twin._memory = {k: m._replace(readers=[*m.readers]) for k, m in self._memory.items()}
        twin._locations = self._locations
        return twin

    def new_group(self) -> int:
        """A number for a fused group."""
        self._groups += 1
        return self._groups

    def describe(
        self, entries: Iterable[Entry], times: Sequence[float | None] | None = None
    ) -> list[Node]:
        """Describe recorded ops.

        Args:
            entries: the ops.
            times: when each was recorded.
        """
        nodes = [self._node(entry) for entry in entries]
        for node, at in zip(nodes, times or (), strict=False):
            node.recorded_at = at
        return nodes

    def start_anew(self) -> None:
        """Everything described so far has been launched: let go what no longer matters."""
        self._values = {k: v for k, v in self._values.items() if v.ref() is not None}
        self._memory = {
            k: m._replace(readers=[]) for k, m in self._memory.items() if m.ref() is not None
        }

    def _node(self, entry: Entry) -> Node:
        op, args, kwargs, outs, code, instruction = entry
        number = self._ops
        self._ops += 1
        location = self._locations.get((code, instruction))
        if location is None:
            location = self._locations[code, instruction] = location_of(code, instruction)
        node = Node(
            number=number,
            op=op.name,
            results=tuple((t._shape, _short(t._dtype)) for t in outs),
            nbytes=sum(numel(t._shape) * t._dtype.itemsize for t in outs),
            reads=tuple(self._use(t) for t in tensors_of((*args, *kwargs.values()))),
            constants=tuple(_constants(args, kwargs)),
            location=location,
            writes=op.writes,
            view=op.view,
        )
        if op.writes:
            node.after = tuple(dict.fromkeys(n for t in outs for n in self._overwrite(t, number)))
        elif not op.view:
            for t in tensors_of((*args, *kwargs.values())):
                self._read(t, number)
        for t in outs:
            if not (op.writes or op.view):
                self._memory[id(_memory_of(t))] = _Memory(weakref.ref(_memory_of(t)), number, [])
            self._values[id(t)] = self._value(t)._replace(maker=number)
        return node

    def _value(self, t: Tensor) -> _Value:
        found = self._values.get(id(t))
        if found is None or found.ref() is not t:
            found = self._values[id(t)] = _Value(weakref.ref(t), self._seen, None)
            self._seen += 1
        return found

    def _known(self, t: Tensor) -> _Memory:
        memory = _memory_of(t)
        found = self._memory.get(id(memory))
        if found is None or found.ref() is not memory:
            found = self._memory[id(memory)] = _Memory(weakref.ref(memory), None, [])
        return found

    def _use(self, t: Tensor) -> Use:
        value = self._value(t)
        sources = [] if value.maker is None else [value.maker]
        writer = self._known(t).writer
        if writer is not None and (value.maker is None or writer > value.maker):
            sources.append(writer)
        return Use(value.number, tuple(sources), t._shape, _short(t._dtype))

    def _read(self, t: Tensor, number: int) -> None:
        self._known(t).readers.append(number)

    def _overwrite(self, t: Tensor, number: int) -> tuple[int, ...]:
        """Note that an op writes a tensor's memory; returns the ops that read what was there."""
        known = self._known(t)
        self._memory[id(_memory_of(t))] = known._replace(writer=number, readers=[])
        return tuple(dict.fromkeys(r for r in known.readers if r != number))


def _memory_of(t: Tensor) -> Any:
    """What stands for a tensor's memory: its storage, or the tensor where it shares none."""
    return t if t._storage is None else t._storage


def _short(d: dtype) -> str:
    return str(d).removeprefix("torch.")


def _constants(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterable[str]:
    """The arguments without tensors, as text."""
    for name, value in [*(("", a) for a in args), *kwargs.items()]:
        if next(tensors_of((value,)), None) is None:
            text = " ".join(repr(value).split())
            if len(text) > _LONGEST_CONSTANT:
                text = text[: _LONGEST_CONSTANT - 1] + "…"
            yield f"{name}={text}" if name else text
