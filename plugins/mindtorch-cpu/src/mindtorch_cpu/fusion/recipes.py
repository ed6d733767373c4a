"""How a group runs with compiled kernels: its entries are traced once, and kept by what they depend on.

Entries are taken in program order. Those of one shape that follow each other are a *stretch*, which becomes
one kernel; a reduction ends it, and its kernel runs on the tile as it does without compiled ones.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from mindtorch_core.backend import Tensor, numel
from mindtorch_core.dispatch.pipeline import Entry

from ..arrays import NUMPY_OF, wrap
from ..large import LARGE
from ..native.launch import packed
from ..native.program import Graph
from ..native.tracing import Traced, Tracer, Untraceable
from .grouping import Block, memory_of

__all__ = ["REDUCTIONS", "Outside", "Recipe", "Reduce", "Stretch", "recipe_of"]

_MOST_NODES = 400
_RECIPES = 32  # of one group
REDUCTIONS: Final = {"aten::sum": "row_sum", "aten::amax": "row_max", "aten::amin": "row_min"}


class Outside(int):
    """Position of an operand that is there before the group: which of the group's tensors it is."""


class Stretch(NamedTuple):
    """Entries that one kernel computes.

    Attributes:
        graph: what it computes.
        numbers: its constants, packed.
        sources: where its inputs come from: an `Outside`, or the entry that makes one.
        makes: the entries whose results it makes, in the order of its fresh arrays.
    """

    graph: Graph
    numbers: Any
    sources: tuple[int, ...]
    makes: tuple[int, ...]


class Reduce(NamedTuple):
    """A reduction that the backend's kernel computes on a tile.

    Attributes:
        entry: which one.
        source: where its operand comes from.
    """

    entry: int
    source: int


class Recipe(NamedTuple):
    """How a group runs.

    Attributes:
        steps: in order.
        outside: for each operand from outside, an entry that has it, and its place among its tensors.
        single: what computes all in one kernel, without tiles, where that can be.
    """

    steps: tuple[Stretch | Reduce, ...]
    outside: tuple[tuple[int, int], ...]
    single: Stretch | None


def recipe_of(block: Block, entries: Sequence[Entry], needed: Sequence[bool]) -> Recipe | str:
    """How a group runs, or why NumPy has to serve.

    Args:
        block: the group.
        entries: its entries.
        needed: for each, whether its result is used outside the group.
    """
    key = (tuple(needed), tuple([_settings(entry) for entry in entries]))
    recipes: dict[Any, Recipe | str] = block.recipes
    try:
        return recipes[key]
    except KeyError:
        pass
    except TypeError:
        return "an argument that cannot be told from others"
    if len(recipes) >= _RECIPES:
        recipes.clear()
    found: Recipe | str
    try:
        found = _Tracing(block, entries, needed).recipe()
    except Untraceable as reason:
        found = str(reason)
    except Exception as error:  # noqa: BLE001 (kernels raise what they like; NumPy says it again)
        found = f"{type(error).__name__} while a kernel was traced"
    recipes[key] = found
    return found


def _settings(entry: Entry) -> tuple[Any, ...]:
    """What an entry has besides tensors; numbers that are equal but different are told apart."""
    made: list[Any] = []
    for value in (*entry.args, *entry.kwargs.values()):
        kind = value.__class__
        if isinstance(value, Tensor):
            continue
        if kind is list:
            value = tuple(value)
        made += kind, str(value) if kind is float or kind is complex else value
    return tuple(made)


def tensors(entry: Entry) -> list[Any]:
    """An entry's operands, in a fixed order."""
    return [v for v in (*entry.args, *entry.kwargs.values()) if isinstance(v, Tensor)]


class _Tracing:
    """Goes through a group's entries once."""

    def __init__(self, block: Block, entries: Sequence[Entry], needed: Sequence[bool]) -> None:
        self.block = block
        self.entries = entries
        self.needed = needed
        self.steps: list[Stretch | Reduce] = []
        self.outside: list[tuple[int, int]] = []
        self._places: dict[Any, int] = {}  # operands from outside by what they show
        self._made: dict[int, int] = {}  # by id of a tensor, the entry that makes it
        self._reducing = {n for n, i in enumerate(block.entries) if i in block.reductions}
        self._last: dict[int, int] = {}  # by entry, the last one that reads it
        for n, entry in enumerate(entries):
            if not entry.op.writes:
                self._made[id(entry.outs[0])] = n
            for t in (*tensors(entry), *entry.outs):
                if id(t) in self._made:
                    self._last[self._made[id(t)]] = n

    def recipe(self) -> Recipe:
        """How the group runs."""
        single = None
        if self._reducing:
            with contextlib.suppress(Untraceable):
                single = self._in_one_pass()
        n = 0
        while n < len(self.entries):
            if n in self._reducing:
                (operand,) = tensors(self.entries[n])
                self.steps.append(Reduce(n, self._source(n, operand)))
                n += 1
            else:
                end = n + 1
                while end < len(self.entries) and self._alike(n, end):
                    end += 1
                stretch = self._stretch(n, end)
                if stretch is not None:
                    self.steps.append(stretch)
                n = end
        if not self.steps:
            raise Untraceable("nothing to compute")
        if not self._reducing and len(self.steps) == 1:
            (single,) = self.steps  # type: ignore[assignment]
        return Recipe(tuple(self.steps), tuple(self.outside), single)

    def _in_one_pass(self) -> Stretch | None:
        """A kernel that reduces rows and computes all the rest; for few elements NumPy adds otherwise."""
        block = self.block
        if numel(block.shape or ()) < LARGE or not all(r.kept for r in block.reductions.values()):
            return None
        return self._stretch(0, len(self.entries))

    def _alike(self, n: int, other: int) -> bool:
        shapes = [self.entries[i].outs[0].raw_shape for i in (n, other)]
        return other not in self._reducing and shapes[0] == shapes[1]

    def _source(self, n: int, t: Any) -> int:
        """Where an operand of an entry comes from."""
        made = self._made.get(id(t))
        if made is not None:
            if made >= n:
                raise Untraceable("an operand that is made later")
            return made
        key = (memory_of(t), t.raw_geometry(), t.raw_shape, t.raw_dtype)
        found = self._places.get(key)
        if found is None:
            found = self._places[key] = len(self.outside)
            self.outside.append((n, [id(o) for o in tensors(self.entries[n])].index(id(t))))
        return Outside(found)

    def _stretch(self, first: int, end: int) -> Stretch | None:
        """Trace entries that one kernel is to compute; None if nobody needs anything of it."""
        tracer = Tracer()
        known: dict[Any, Traced] = {}  # by source
        sources: list[int] = []
        results: dict[int, Traced] = {}

        def traced(n: int, value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            made = self._made.get(id(value))
            if made is not None and made in results:
                return wrap(results[made], value.raw_dtype)
            source = self._source(n, value)
            key = (source.__class__, int(source))
            if key not in known:
                known[key] = tracer.input(NUMPY_OF[value.raw_dtype], bool(value.raw_shape))
                sources.append(source)
            return wrap(known[key], value.raw_dtype)

        for n in range(first, end):
            entry = self.entries[n]
            args = [traced(n, a) for a in entry.args]
            options = {k: traced(n, v) for k, v in entry.kwargs.items()}
            if n in self._reducing:
                data = _reduced(tracer, entry, args[0].raw_data)
                found = wrap(data, entry.outs[0].raw_dtype)
            else:
                found = entry.op.impl(*args, **options)
            if entry.op.writes:
                continue
            data = found.raw_data
            if type(data) is not Traced or data.dtype != NUMPY_OF[entry.outs[0].raw_dtype]:
                raise Untraceable(f"{entry.op.name} gives no traced result")
            results[n] = data
        self._check_writes(known, sources)
        makes = [n for n in results if self.needed[n] or self._last[n] >= end]
        if not makes and all(t.value == t.given for t in known.values()):
            return None
        graph, inputs, numbers = tracer.finish([results[n] for n in makes])
        if len(graph.nodes) > _MOST_NODES:
            raise Untraceable("a group of too many operations")
        return Stretch(graph, packed(numbers), tuple(sources[i] for i in inputs), tuple(makes))

    def _check_writes(self, known: dict[Any, Traced], sources: Sequence[int]) -> None:
        """Refuse writes to memory that the stretch knows by another operand as well."""
        shown: dict[int, int] = {}
        keys = list(self._places)
        for source in sources:
            if source.__class__ is Outside:
                memory = keys[source][0]
                shown[memory] = shown.get(memory, 0) + 1
        for (kind, source), t in known.items():
            if t.value != t.given and kind is Outside and shown[keys[source][0]] > 1:
                raise Untraceable("memory that is written and seen in two ways")


def _reduced(tracer: Tracer, entry: Entry, operand: Any) -> Any:
    """What a reduction of rows gives."""
    if entry.outs[0].raw_dtype is not entry.args[0].raw_dtype:
        raise Untraceable("a sum in another dtype")
    return tracer.reduced(REDUCTIONS[entry.op.name], operand)
