"""What a kernel does with a strip of elements, and where values stand between.

A strip goes through phases. In each, one loop computes what has instructions; then NumPy's loops are
called on what it made, and the next phase reads their results. What lives longer than a phase stands in
a *home*: a place in scratch memory, or the result's own memory where that can be read again.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from .operations import emitted
from .program import REDUCTIONS, Program

__all__ = ["STRIP", "Call", "Phase", "Schedule", "schedule"]

# Elements of a strip: those of some homes fit a first-level cache.
STRIP: Final = 2048

# Where a value stands: ("array", n) or ("slot", n).
Home = tuple[str, int]


class Call(NamedTuple):
    """A call of one of NumPy's loops.

    Attributes:
        loops: its position among the program's loops, or those of the loops of a reduction.
        value: what it makes.
    """

    loops: tuple[int, ...]
    value: int


class Phase(NamedTuple):
    """A loop over the strip, and the calls after it.

    Attributes:
        stores: values that the loop writes, and where to.
        calls: what follows.
    """

    stores: tuple[tuple[int, Home], ...]
    calls: tuple[Call, ...]


class Schedule(NamedTuple):
    """How a program runs.

    Attributes:
        phases: in order.
        levels: the phase in which each value is computed, or after which it is called.
        homes: of the values that have one.
        slots: how many places in scratch memory are needed.
        loops: names and dtypes of the loops that are called.
    """

    phases: tuple[Phase, ...]
    levels: dict[int, int]
    homes: dict[int, Home]
    slots: int
    loops: tuple[tuple[str, tuple[str, ...]], ...]


def schedule(program: Program) -> Schedule:
    """Divide a program into phases."""
    graph = program.graph
    first = graph.first_node
    constant = program.constant_in_rows()
    calls = {
        first + i
        for i, node in enumerate(graph.nodes)
        if not emitted(node.op, (*map(graph.dtype, node.operands), node.dtype))
    }
    levels = dict.fromkeys(range(first), 0)
    for i, node in enumerate(graph.nodes):
        levels[first + i] = max(levels[o] + (o in calls) for o in node.operands)
    written = [v for v, _ in graph.outputs]
    final = max(levels[v] + (v in calls) for v in written)
    _put_off(program, calls, levels, final)

    homes: dict[int, Home] = {}
    added = [(v, at) for v, at in graph.outputs if at in graph.folded]
    direct = set(added)  # outputs that are written when their value is made
    for v, at in graph.outputs:
        fresh = at >= len(graph.inputs) and program.layouts[at] == "dense"
        if fresh and v >= first and v not in homes and v not in constant:
            homes[v] = ("array", at)
            direct.add((v, at))
    uses = _uses(program, calls, levels, direct, final)
    slots = _place(program, calls, levels, uses, homes)

    called = [_loops(program, v) for v in sorted(calls)]
    loops = tuple(dict.fromkeys(loop for each in called for loop in each))
    phases = []
    for level in range(final + 1):
        stores = [(v, h) for v, h in homes.items() if v not in calls and levels[v] == level]
        stores += [(v, ("array", at)) for v, at in added if levels[v] == level]
        if level == final:
            stores += [(v, ("array", at)) for v, at in graph.outputs if (v, at) not in direct]
        made = tuple(
            Call(tuple(loops.index(loop) for loop in _loops(program, v)), v)
            for v in sorted(calls)
            if levels[v] == level
        )
        phases.append(Phase(tuple(stores), made))
    return Schedule(tuple(phases), levels, homes, slots, loops)


def _put_off(program: Program, calls: set[int], levels: dict[int, int], final: int) -> None:
    """Let a loop compute what it makes of arrays alone only when it is used: it needs no home then."""
    graph = program.graph
    first = graph.first_node
    free = set(range(first))  # made of arrays alone
    used: dict[int, int] = {v: final for v, _ in graph.outputs}
    for v, node in enumerate(graph.nodes, first):
        if v not in calls and free.issuperset(node.operands):
            free.add(v)
    for v in range(first + len(graph.nodes) - 1, first - 1, -1):
        if v in free:
            levels[v] = used[v]
        for o in graph.nodes[v - first].operands:
            used[o] = min(used.get(o, final), levels[v])


def _loops(program: Program, v: int) -> list[tuple[str, tuple[str, ...]]]:
    """The loops of NumPy's that compute a value."""
    node = program.graph.nodes[v - program.graph.first_node]
    if node.op in REDUCTIONS:
        return [(name, (node.dtype,) * 3) for name in REDUCTIONS[node.op]]
    return [(node.op, (*map(program.graph.dtype, node.operands), node.dtype))]


def _uses(
    program: Program,
    calls: set[int],
    levels: dict[int, int],
    direct: set[tuple[int, int]],
    final: int,
) -> dict[int, int]:
    """For values that need a home, the last event that reads them: phases are even, calls odd."""
    graph = program.graph
    last: dict[int, int] = {}

    def use(v: int, event: int, by_call: bool) -> None:
        if len(graph.inputs) <= v < graph.first_node:
            return
        if v < len(graph.inputs):  # its array can be read at any time
            if not by_call or program.layouts[v] not in ("strided", "spread"):
                return
        elif not by_call and v not in calls and event <= 2 * levels[v]:
            return
        last[v] = max(last.get(v, 0), event)

    for i, node in enumerate(graph.nodes):
        v = graph.first_node + i
        by_call = v in calls
        for o in node.operands:
            use(o, 2 * levels[v] + by_call, by_call)
    for v, at in graph.outputs:
        if (v, at) not in direct:
            use(v, 2 * final, False)
    return last


def _place(
    program: Program,
    calls: set[int],
    levels: dict[int, int],
    uses: dict[int, int],
    homes: dict[int, Home],
) -> int:
    """Give values that need it a slot, which others have again later; returns how many there are."""
    free: list[int] = []
    busy: list[tuple[int, int]] = []  # last event and slot
    count = 0

    def made(v: int) -> int:
        return 2 * levels[v] + (v in calls)

    for v in sorted(uses, key=made):
        if v in homes:
            continue
        for entry in [b for b in busy if b[0] < made(v)]:
            busy.remove(entry)
            free.append(entry[1])
        if free:
            slot = free.pop()
        else:
            slot, count = count, count + 1
        homes[v] = ("slot", slot)
        busy.append((uses[v], slot))
    return count
