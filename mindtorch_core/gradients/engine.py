"""The engine: walks the graph from the outputs to the leaves.

Nodes wait in a heap by falling number, so each is visited once, after everything that consumes its
outputs, without a first pass that counts dependencies and without recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import Any

from ..dispatch.autocast_keys import AUTOCAST
from ..dispatch.keys import ACTIVE, MASKS, OVERRIDDEN
from ..tensors.autograd_state import AutogradMeta
from . import anomaly_mode, walks
from .grad_mode import keep_mask
from .hooks import call_with_hooks, run_posthooks, run_tensor_hooks
from .leaves import HookedLeaves, deliver, finish_leaf, hooked_gradient
from .nesting import nests, too_deep
from .node import HOOKED_LEAVES, SHOWN, Node
from .walks import OBSERVED
from .within import FINAL, end_pass, marks

__all__ = ["leading_to", "run"]


Place = tuple[Any, int]


def _place(meta: AutogradMeta) -> Place:
    """Where gradients of a tensor arrive: at a leaf, or at one output of a node."""
    return (meta, 0) if meta.is_leaf else (meta.node, meta.output_nr)


@nests
@marks("pass")
def run(
    starts: list[AutogradMeta],
    grads: list[Any],
    keep: bool,
    create_graph: bool,
    wanted: Sequence[AutogradMeta] | None = None,
    *,
    accumulating: bool = False,
) -> list[Any]:
    """Walk the graph.

    Args:
        starts: the places where it begins.
        grads: the gradients there.
        keep: leave saved values in place, for another walk.
        create_graph: record what the formulas compute.
        wanted: visit only what leads to these places.
        accumulating: add gradients to the ``grad`` of leaves, instead of returning those wanted.

    Returns:
        The gradients at ``wanted``, None where none arrived; an empty list if they were accumulated.
    """
    targets: dict[Place, Any] | None = None
    needed: dict[Node, bool] | None = None
    last: Callable[[Node, list[Any]], None] = _hooks_of_tensors
    if wanted is not None:
        targets = dict.fromkeys(map(_place, wanted))
        needed = _on_the_way(starts, targets)
        last = partial(_run_last, keep) if accumulating else last
    walk = walks.Walk(starts, needed, targets) if OBSERVED else None
    own, active = MASKS.__dict__, ACTIVE
    # Without autocast: gradients are computed in the dtypes that the forward pass had.
    include, kept, blocked = own["include"], own["keep"], own["blocked"]
    inside = keep_mask(kept, create_graph) & ~(AUTOCAST | OVERRIDDEN)
    announce = kept == -1 and include == 0
    try:
        # Written out, here and below: interrupts come where functions begin, or calls have ended.
        own["keep"] = inside
        if announce:
            active += (1,)
        if walk is not None:
            walks.CURRENT.walk = walk
        hooked = None
        if HOOKED_LEAVES:
            collected: dict[AutogradMeta, Any] = {}
            finish = partial(_finish_hooked, None if accumulating else collected, create_graph)
            hooked = HookedLeaves(starts, needed, targets, finish)
        leaves = _walk(starts, grads, keep, targets, needed, hooked, last)
        if accumulating or wanted is None or targets is None:
            deliver(leaves, create_graph)
            if FINAL:
                end_pass(call=True)
            return []
        if hooked is not None:
            leaves.update(collected)
        if FINAL:
            end_pass(call=True)
        return [leaves.get(at) if at.is_leaf else targets[_place(at)] for at in wanted]
    except RecursionError as error:
        explained = too_deep(error)
        if explained is None:
            raise
        raise explained from None
    finally:
        own["include"] = include
        own["keep"] = kept
        own["blocked"] = blocked
        if announce:
            del active[-1:]
        if walk is not None:
            walks.CURRENT.walk = walk.outer
        if FINAL:
            end_pass(call=False)


def _finish_hooked(
    collected: dict[AutogradMeta, Any] | None,
    create_graph: bool,
    meta: AutogradMeta,
    arrived: list[Any],
) -> None:
    """What happens to the complete gradient of a leaf that has hooks.

    Args:
        collected: where to put it, or None to add it to the leaf's ``grad``.
        create_graph: whether that is recorded.
        meta: the leaf.
        arrived: a list of its gradient.
    """
    hooked_gradient(meta, arrived)
    if collected is None:
        finish_leaf(meta, arrived, create_graph)
    else:
        collected[meta] = arrived[0]


@marks("node")
def _walk(
    edges: Sequence[AutogradMeta | None], results: Sequence[Any], keep: bool,
    targets: dict[Place, Any] | None, needed: dict[Node, bool] | None, hooked: HookedLeaves | None,
    last: Callable[[Node, list[Any]], None],
) -> dict[AutogradMeta, Any]:  # fmt: skip
    """Send gradients along edges, node after node; returns what arrived at the leaves.

    With ``targets``, what arrives at them is put into its values, and other leaves and nodes that
    do not lead to one (are not ``needed``) get nothing. ``hooked`` takes gradients of leaves that
    have hooks as they become complete, and ``last`` nodes at which it ends before the leaves.

    Most graphs are chains: the next node then is known without a trip through the heap. Gradients
    that were handed on are referred to no more, so that a leaf can take its only one over uncopied.
    """
    heap, leaves = [], {}  # type: list[tuple[int, Node]], dict[AutogradMeta, Any]
    buffers: dict[Node, list[Any]] = {}  # by node in the heap, what arrived at its outputs
    watched = anomaly_mode.is_anomaly_enabled()
    following: Node | None = None
    arrived, undefined = [], False  # type: list[Any], bool
    while True:
        i = 0
        for edge in edges:
            g = results[i]
            i += 1
            if edge is None or (g is None and not SHOWN.gradients):
                continue
            node = edge.node
            if edge.is_leaf:
                if g is not None and (targets is None or (edge, 0) in targets):
                    leaves[edge] = leaves[edge] + g if edge in leaves else g
            elif node is not None and (needed is None or node in needed):
                if node is following:
                    waiting = arrived
                elif following is None and not heap:
                    following = node
                    waiting = arrived = [None] * node.outputs
                elif node in buffers:
                    waiting = buffers[node]
                else:
                    waiting = buffers[node] = [None] * node.outputs
                    heappush(heap, (-node.number, node))
                if g is None:  # hooks are called all the same, and Functions
                    undefined = True
                    continue
                at = edge.output_nr
                waiting[at] = g if waiting[at] is None else waiting[at] + g
        g = results = waiting = None  # type: ignore[assignment]
        if hooked is not None:
            hooked.passed(edges, leaves)
        if heap:
            if following is not None:
                buffers[following] = arrived
                heappush(heap, (-following.number, following))
            following = heappop(heap)[1]
            arrived = buffers.pop(following)
        if following is None:
            return leaves
        node, following = following, None
        if targets and needed is not None and _collect(node, arrived, targets, needed, last):
            edges, results, arrived = (), (), []
            continue
        plain = not (watched or undefined or node.hooks is not None)
        results = node.apply(*arrived) if plain else _evaluated(node, arrived, watched)
        if plain and node.hooks is not None:  # they came while it unpacked what it had saved
            results = run_posthooks(node.hooks, results, arrived)
        arrived, edges = [], node.edges
        if not keep:
            node.release()


def _evaluated(node: Node, arrived: list[Any], watched: bool) -> Any:
    """The gradients of a node's inputs, with its hooks called, and looked at in anomaly mode."""
    evaluate = anomaly_mode.evaluate if watched else None
    if node.hooks is not None:
        return call_with_hooks(node, node.hooks, arrived, evaluate)
    if not node.custom and all(g is None for g in arrived):
        return _nothing(node, arrived)
    return node.apply(*arrived) if evaluate is None else evaluate(node, arrived)


def _collect(
    node: Node,
    arrived: list[Any],
    targets: dict[Place, Any],
    needed: dict[Node, bool],
    last: Callable[[Node, list[Any]], None],
) -> bool:
    """Keep the gradients that were asked for; returns whether the walk ends at this node.

    There, they are what the hooks of the tensors make of them. Where it goes on, those are called
    later.
    """
    ends = not needed[node]
    if ends:
        last(node, arrived)
    for i, g in enumerate(arrived):
        if (node, i) in targets:
            targets[node, i] = g
    return ends


def _hooks_of_tensors(node: Node, arrived: list[Any]) -> None:
    """What `grad` does at a node at which its walk ends."""
    if node.hooks is not None:
        run_tensor_hooks(node.hooks, arrived)


def _run_last(keep: bool, node: Node, arrived: list[Any]) -> None:
    """What `backward` does there: it runs the node, of which nobody wants the gradients."""
    evaluate = None if node.custom else _nothing
    if node.hooks is not None:
        call_with_hooks(node, node.hooks, arrived, evaluate)
    elif node.custom:
        node.apply(*arrived)
    if not keep:
        node.release()


def _nothing(node: Node, arrived: list[Any]) -> tuple[None, ...]:
    return (None,) * len(node.edges)


def leading_to(starts: list[AutogradMeta], wanted: Sequence[AutogradMeta]) -> dict[Node, bool]:
    """The nodes that a walk visits if only gradients at some places are wanted."""
    return _on_the_way(starts, dict.fromkeys(map(_place, wanted)))


def _on_the_way(roots: list[AutogradMeta], targets: dict[Place, Any]) -> dict[Node, bool]:
    """The nodes that are targets or lead to one; the value says whether they lead to one."""
    ends = {place for place, _ in targets}
    needed: dict[Node, bool] = {}
    nodes = walks.reachable(r.node for r in roots if not r.is_leaf)
    for node in sorted(nodes, key=lambda n: n.number):
        for e in node.edges:
            if e is not None and (e in ends if e.is_leaf else e.node in needed):
                needed[node] = True
                break
        else:
            if node in ends:
                needed[node] = False
    return needed
