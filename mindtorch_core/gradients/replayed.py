"""Backward passes of blocks that come again: one item of a known trace, not node after node.

A walk through the graph whose forward ops were all followed computes what it did last time: no formula need
be asked, and no op be looked up. What it depends on is guarded: every node is that of a result of this run,
with the same edges and without hooks, and what it saved is unchanged; leaves that are given one have no
gradient yet; numbers that the forward pass computed with are the same. Where a guard fails, the engine walks
as always.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final

from ..deferred.blocks import STACK
from ..deferred.context import Pipeline
from ..deferred.programs.describing import Description
from ..deferred.programs.program import Number, refs_of
from ..deferred.replay.following import hand_out, located, takes
from ..deferred.replay.identities import Identities
from ..deferred.replay.known import NOTHING, Expected, Known, Unmade, getter
from ..deferred.trace import Entry, tensors_of
from ..dispatch.keys import MASKS
from ..dispatch.registry import registry
from ..tensors.autograd_state import AutogradMeta
from ..tensors.tensor import Tensor
from . import anomaly_mode
from .engine import leading_to, run
from .known_graph import KnownGraph, KnownNode, is_empty, is_unhooked

__all__ = ["accumulate_gradients", "followed_seed", "wanted_gradients"]

_LARGEST: Final = 2_000  # nodes of a walk
Masks = tuple[int, int]


def accumulate_gradients(
    starts: list[AutogradMeta], grads: list[Any], keep: bool, create_graph: bool
) -> None:
    """Walk the graph and add gradients to the leaves, in a pipeline perhaps as the last time.

    Args:
        starts: the places where the walk begins.
        grads: the gradients there.
        keep: leave saved values in place, for another walk.
        create_graph: record what the formulas compute.
    """
    pipe = _pipe_of(starts, keep, create_graph) if STACK.open else None
    if pipe is None:
        run(starts, grads, keep, create_graph, accumulating=True)
        return
    e = pipe.expected
    if e.walk is not None and e.walk.follow(pipe, e, starts[0], grads[0], None) is not None:
        return
    walk = _begun(pipe, starts[0], grads[0], None)
    run(starts, grads, keep, create_graph, accumulating=True)
    if walk is not None and walk.ended(pipe, [meta.grad for meta in walk.leaves]):
        pipe.walks = [*pipe.walks, walk]


def wanted_gradients(
    starts: list[AutogradMeta],
    grads: list[Any],
    keep: bool,
    create_graph: bool,
    wanted: list[AutogradMeta],
) -> list[Any]:
    """Walk the graph and give the gradients at some places, in a pipeline perhaps as the last time.

    Args:
        starts: the places where the walk begins.
        grads: the gradients there.
        keep: leave saved values in place, for another walk.
        create_graph: record what the formulas compute.
        wanted: the places.

    Returns:
        The gradients, None where none arrived.
    """
    pipe = _pipe_of(starts, keep, create_graph) if STACK.open else None
    if pipe is None:
        return run(starts, grads, keep, create_graph, wanted)
    e = pipe.expected
    if e.walk is not None:
        followed: list[Any] | None = e.walk.follow(pipe, e, starts[0], grads[0], wanted)
        if followed is not None:
            return followed
    walk = _begun(pipe, starts[0], grads[0], wanted)
    found = run(starts, grads, keep, create_graph, wanted)
    if walk is not None and walk.ended(pipe, found):
        pipe.walks = [*pipe.walks, walk]
    return found


def _pipe_of(starts: list[AutogradMeta], keep: bool, create_graph: bool) -> Pipeline | None:
    """The pipeline that may replay a walk, or learn it; None where it is an engine's."""
    pipe = STACK.open[-1]
    several = keep or create_graph or len(starts) != 1
    if several or pipe.site is None or anomaly_mode.is_anomaly_enabled():
        return None
    return pipe


def followed_seed(t: Tensor) -> Tensor | None:
    """The ones that a walk starts from, where a block that comes again records them next; else None."""
    pipe = STACK.open[-1] if STACK.open else None
    if pipe is None or (e := pipe.expected).op is None:
        return None
    walk = e.next.walk
    if (
        walk is None
        or walk.made_by is not e
        or (t._shape, t._dtype) != e.spec[:2]
        or t._device is not e.device
        or (MASKS.include, MASKS.keep) != walk.masks
        or registry.generation != walk.generation
        or not _called_at(e)
    ):
        return None
    values = pipe.values
    with pipe.lock:
        if pipe.expected is not e:  # a handler came between
            return None
        hand_out(pipe, values, e)
        if pipe.expected is not e:
            return None
        pipe.expected = e.next
    return values[e.out]  # type: ignore[no-any-return]


def _begun(
    pipe: Pipeline, start: AutogradMeta, seed: Any, wanted: list[AutogradMeta] | None
) -> Walk | None:
    site = pipe.site
    if site is None or site.entered < 2:
        return None
    if pipe.expected is not NOTHING:
        if pipe.identities is None:
            return None
        pipe.unfold()  # the part before was another one than ever: so will this one be
    return Walk.begun(start, seed, pipe, wanted)


class Walk:
    """One walk of a trace; it is built with tensors' identities and then speaks of their places.

    Attributes:
        start, end: which of the recorded ops it has made, as these were taken ``taken`` times.
        nodes: the nodes, whose places are tensors' identities until the graph is numbered.
        graph: these, with numbers.
        leaves: the leaves, with the gradients that they got.
        returns: whether these are returned, and not put into the leaves' ``grad``.
        root, seed: where it began, and the gradient there.
        made_by: the op that made that: ones, for who gave none; None for another one.
        identities: where the graph was recorded by the part of the block before this one, the tensors
            of that part: nodes, root and leaves are places there.
        places: gives the tensors by whose numbers graph, leaves and root speak in the end.
        inputs: places of operands that the walk is the first to use, and where they stood before.
        shown: the ops whose results somebody may have: gradients of leaves, what they are views of, and
            what later ops take.
        hidden: the others' results: what stands for them, by place.
    """

    graph: KnownGraph
    identities: Identities | None = None
    made_by: Expected | None = None
    owners: dict[int, int]
    numbers_before: list[Any] | None
    known_before: object

    def __init__(
        self,
        root: int,
        seed: int,
        nodes: list[KnownNode],
        leaves: list[AutogradMeta],
        returns: bool,
    ) -> None:
        self.root, self.seed = root, seed
        self.returns = returns
        self.nodes = nodes
        self.leaves: list[Any] = leaves
        self.start = self.end = self.taken = 0
        self.inputs: list[tuple[int, int]] = []
        self.masks: Masks = (MASKS.include, MASKS.keep)
        self.generation = registry.generation

    # ---- learning ------------------------------------------------------------------------------

    @classmethod
    def begun(
        cls, start: AutogradMeta, seed: Any, pipe: Pipeline, wanted: list[AutogradMeta] | None
    ) -> Walk | None:
        """Describe what a walk will visit; None if it cannot be replayed."""
        if MASKS.include or start.is_leaf:
            return None
        if wanted is not None and not all(is_unhooked(meta) for meta in wanted):
            return None
        needed = None if wanted is None else leading_to([start], wanted)
        metas, makers = _of_entries(pipe.recorded)
        before = pipe.identities
        if id(start) not in metas and before is not None:
            metas, makers = _of_identities(before)
        else:
            before = None
        nodes: list[KnownNode] = []
        leaves: dict[int, AutogradMeta] = {}
        todo, met = [start.node], set()
        while todo:
            node = todo.pop()
            if node is None or node in met or not (needed is None or node in needed):
                continue
            met.add(node)
            if id(node) not in makers or len(met) > _LARGEST:
                return None
            for edge in node.edges:
                if edge is None:
                    continue
                if id(edge) not in metas:
                    return None
                if edge.is_leaf and wanted is None and not is_empty(edge):
                    return None
                if edge.is_leaf:
                    leaves[id(edge)] = edge
                else:
                    todo.append(edge.node)
            edges = [None if edge is None else metas[id(edge)] for edge in node.edges]
            known = KnownNode.of(node, makers[id(node)], edges)
            if known is None:
                return None
            nodes.append(known)
        if id(start) not in metas:
            return None
        if wanted is not None:
            if not all(id(meta) in leaves for meta in wanted):
                return None
            leaves = {id(meta): meta for meta in wanted}
        given = [*leaves.values()] if wanted is None else wanted
        walk = cls(metas[id(start)], id(seed), nodes, given, wanted is not None)
        walk.start, walk.taken, walk.identities = len(pipe.recorded), pipe.taken, before
        walk.owners = {id(meta): metas[i] for i, meta in leaves.items()}
        return walk

    def ended(self, pipe: Pipeline, found: Sequence[Any]) -> bool:
        """Note what the walk has given, by leaf; whether it can be replayed."""
        self.end = len(pipe.recorded)
        if pipe.taken != self.taken:  # a handler has had the first of them launched
            return False
        if any(g is None for g in found):
            return False
        self.leaves = [
            (self.owners[id(meta)], id(g)) for meta, g in zip(self.leaves, found, strict=True)
        ]
        return self.start < self.end

    def place(self, known: Known, found: Description) -> None:
        """Speak of places instead of tensors, and be part of a trace, if that is possible."""
        place, before, self.identities = found.number_of, self.identities, None
        chain = [*known.chain()]
        ops = chain[self.start : self.end]
        ids = [self.seed, *(g for _, g in self.leaves)]
        if before is None:
            ids += [self.root, *(leaf for leaf, _ in self.leaves)]
            ids += [i for node in self.nodes for i in (node.made, *node.edges) if i is not None]
        if len(chain) < self.end or any(i not in place for i in ids):
            return
        there = {n for e in chain[: self.start] for n in (*refs_of((e.args, e.kwargs)), *e.outs)}
        for e in ops:
            if e.op is None or not e.op.pure or not (e.kind or not e.op.view):
                return
            for n in refs_of((e.args, e.kwargs)):
                if n not in there:
                    stood = None if before is None else before.place_of(found.tensors[n])
                    if stood is None:
                        return
                    self.inputs.append((n, stood))
                    there.add(n)
            there.update(e.outs)
        self.seed = place[self.seed]
        before_it = chain[self.start - 1] if self.start else None
        if before_it is not None and before_it.out == self.seed and _makes_ones(before_it):
            self.made_by = before_it
        self.leaves = [(leaf, place[g]) for leaf, g in self.leaves]
        self._number_graph(place if before is None else None)
        counted = chain[: self.start]
        self.earlier = {n: found.numbers[n] for e in counted for n in _numbers(e)}
        self.numbers_before = None if before is None else before.numbers
        self.known_before = None if before is None else before.known
        self.own = {n: found.numbers[n] for e in ops for n in _numbers(e)}
        self.after = ops[-1].next
        wanted = {g for _, g in self.leaves}
        wanted.update(n for e in chain[self.end :] for n in refs_of((e.args, e.kwargs)))
        self.shown: list[Expected] = []
        self.hidden: list[tuple[int, Unmade]] = []
        for e in reversed(ops):
            if wanted.intersection(e.outs):
                self.shown.insert(0, e)
                if e.kind not in ("made", "several"):
                    wanted.update(refs_of((e.args, e.kwargs)))
            else:
                self.hidden += [(n, Unmade()) for n in e.outs]
        if self.hidden:
            known.hidden.append(self.hidden[0][0])
        known.reads_before |= before is not None
        ops[0].walk = self

    def _number_graph(self, place: dict[int, int] | None) -> None:
        """Number the tensors of the graph, which were told by identity if their places are given."""
        numbers: dict[int, int] = {}

        def number(i: int) -> int:
            return numbers.setdefault(i if place is None else place[i], len(numbers))

        self.root = number(self.root)
        self.leaves = [(number(leaf), g) for leaf, g in self.leaves]
        nodes = [
            node._replace(
                made=number(node.made), edges=[-1 if i is None else number(i) for i in node.edges]
            )
            for node in self.nodes
        ]
        self.graph = KnownGraph(nodes, [leaf for leaf, _ in self.leaves], empty=not self.returns)
        self.nodes = []
        self.places = getter([*numbers])

    # ---- following -----------------------------------------------------------------------------

    def follow(
        self,
        pipe: Pipeline,
        e: Expected,
        start: AutogradMeta,
        seed: Any,
        wanted: list[AutogradMeta] | None,
    ) -> list[Any] | None:
        """Record the walk as it was, if all that it depends on is as it was.

        Returns:
            The gradients, by leaf; None where the engine has to walk.
        """
        values, numbers, before = pipe.values, pipe.numbers, pipe.before
        if (
            pipe.expected is not e  # a handler came between
            or (MASKS.include, MASKS.keep) != self.masks
            or registry.generation != self.generation
            or values[self.seed] is not seed
            or not _called_at(e)
            or self.returns is not (wanted is not None)
            or (self.earlier and not all(_same(numbers[n], v) for n, v in self.earlier.items()))
        ):
            return None
        own: Sequence[Any] = values
        if self.numbers_before is None:
            metas = [*[t._autograd for t in self.places(values)], None]
        elif before is None or before.known is not self.known_before:
            return None  # the part before has come to be another one
        elif not all(map(_same, before.numbers, self.numbers_before)):
            return None
        else:
            own, metas = before.values, [*self.places(before.metas), None]
        if metas[self.root] is not start or not self._wants(metas, wanted):
            return None
        nodes = self.graph.nodes_of(metas)
        if nodes is None:
            return None
        for n, stood in self.inputs:
            t = own[stood]
            if t._payload is None or not (values[n] is t or takes(pipe, n, t)):
                return None
        with pipe.lock:
            for at in self.shown:
                if pipe.expected is not e:
                    return None
                hand_out(pipe, values, at)
            values = values.copy()  # an interrupt finds all of it done or nothing
            for n, unmade in self.hidden:
                values[n] = unmade
            for n, number in self.own.items():
                numbers[n] = number
            if pipe.expected is not e:
                return None
            pipe.values, pipe.expected = values, self.after
        found = [values[g] for _, g in self.leaves]
        if not self.returns:
            for (leaf, _), g in zip(self.leaves, found, strict=True):
                metas[leaf].grad = g
        for node in nodes:
            node.release()
        pipe.before = None
        pipe.walked += 1
        return found

    def _wants(self, metas: Sequence[Any], wanted: list[AutogradMeta] | None) -> bool:
        """Whether gradients are asked for where they were."""
        if wanted is None:
            return True
        return len(wanted) == len(self.leaves) and all(
            metas[leaf] is meta for (leaf, _), meta in zip(self.leaves, wanted, strict=True)
        )


def _of_entries(entries: Sequence[Entry]) -> tuple[dict[int, int], dict[int, int]]:
    """By id of a place in the graph the id of the tensor there, and by id of a node of what it has made."""
    metas: dict[int, int] = {}
    makers: dict[int, int] = {}
    for entry in entries:
        for t in (*entry.outs, *tensors_of((*entry.args, *entry.kwargs.values()))):
            meta = t._autograd
            if meta is not None and (meta.is_leaf or any(t is o for o in entry.outs)):
                metas[id(meta)] = id(t)
                if not meta.is_leaf and meta.node is not None:
                    makers.setdefault(id(meta.node), id(t))
    return metas, makers


def _of_identities(before: Identities) -> tuple[dict[int, int], dict[int, int]]:
    """The same of the part of the block before, with places in the stead of tensors."""
    metas: dict[int, int] = {}
    makers: dict[int, int] = {}
    for i, (ref, n) in before.metas.items():
        meta = ref()
        if meta is not None and (meta.is_leaf or n in before.made):
            metas[i] = n
            if not meta.is_leaf and meta.node is not None:
                makers.setdefault(id(meta.node), n)
    return metas, makers


def _makes_ones(e: Expected) -> bool:
    """Whether an op is that by which `roots` makes the gradient that a walk starts from."""
    return (
        e.op is not None
        and e.op.definition is registry.entry("aten::ones").definition
        and e.kind == "made"
        and e.kwargs.keys() <= {"dtype", "device"}
    )


def _same(now: Any, was: Any) -> bool:
    """Whether two numbers are equal, the signs of zeros included."""
    return now is was or (now == was and repr(now) == repr(was))


def _numbers(e: Expected) -> list[Number]:
    return [v for v in (*e.args, *e.kwargs.values()) if isinstance(v, Number)]


def _called_at(e: Expected) -> bool:
    """Whether the user's line is that from which an op is expected to be called."""
    try:
        user = sys._getframe(e.depth)
    except ValueError:
        return located(e)
    return (user.f_lasti == e.instruction and user.f_code is e.code) or located(e)
