"""The engine: walks the graph from the outputs to the leaves.

Nodes wait in a heap by falling number, so each is visited once, after everything that consumes its
outputs, without a first pass that counts dependencies and without recursion.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from heapq import heappop, heappush
from typing import Any

from ..autograd_state import AutogradMeta
from ..dispatch.autocast_keys import AUTOCAST
from ..dispatch.keys import AUTOGRAD, MASKS, activate, deactivate
from ..tensor import Tensor
from . import anomaly_mode, walks
from .grad_mode import keep_mask
from .hooks import HOOKED_LEAVES, call_with_hooks, run_tensor_hooks
from .leaves import HookedLeaves, deliver, finish_leaf, hooked_gradient
from .node import GradientEdge, Node
from .roots import as_list, inputs_of, place_of, start
from .walks import OBSERVED

__all__ = ["backward", "grad", "run"]

Target = Tensor | GradientEdge


def backward(
    tensors: Target | Sequence[Target],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: Target | Sequence[Target] | dict[Any, Target] | None = None,
) -> None:
    """Accumulate gradients of ``tensors`` into the ``grad`` of the graph's leaves.

    Args:
        tensors: outputs to differentiate.
        grad_tensors: gradient of each; may be left out for tensors of one element.
        retain_graph: keep what the formulas need, for another walk; by default ``create_graph``.
        create_graph: record the walk itself, for higher derivatives.
        grad_variables: an old name of ``grad_tensors``.
        inputs: accumulate only into these; results among them retain their gradient from then on.

    Raises:
        RuntimeError: if an output does not require grad, or its gradient is missing.
    """
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`."
            )
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            FutureWarning,
            stacklevel=2,
        )
        grad_tensors = grad_variables
    roots = as_list(tensors)
    keep = create_graph if retain_graph is None else retain_graph
    only = None if inputs is None else inputs_of(inputs, "backward")
    if only is not None:
        _refuse_outside(only)
        for t in only:
            if isinstance(t, Tensor):
                t.retain_grad()
    grads = start(roots, grad_tensors, shown=create_graph)
    run(roots, grads, keep, create_graph, only, accumulating=True)


def grad(
    outputs: Target | Sequence[Target],
    inputs: Target | Sequence[Target] | dict[Any, Target],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Gradients of ``outputs`` with respect to ``inputs``, returned instead of accumulated.

    Args:
        outputs: outputs to differentiate.
        inputs: tensors to differentiate with respect to; a dict gives a dict.
        grad_outputs: gradient of each output; may be left out for tensors of one element.
        retain_graph: keep what the formulas need, for another walk; by default ``create_graph``.
        create_graph: record the walk itself, for higher derivatives.
        only_inputs: deprecated and ignored.
        allow_unused: give None for inputs that no output depends on, instead of raising.
        is_grads_batched: ``grad_outputs`` are stacks of gradients, and so are the results. There is
            one walk for each.
        materialize_grads: give zeros for inputs that no output depends on.

    Returns:
        A tuple with a tensor or None for each input.

    Raises:
        RuntimeError: if an input does not require grad, or is not part of the graph.
        ValueError: if ``allow_unused=False`` contradicts ``materialize_grads``.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
            "gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    roots = as_list(outputs)
    wanted = inputs_of(inputs, "grad")
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        from .batches import batched

        found = batched(roots, wanted, grad_outputs, keep, create_graph)
    else:
        grads = start(roots, grad_outputs, shown=True)
        _refuse_outside(wanted)
        found = run(roots, grads, keep, create_graph, wanted)
    if materialize_grads:
        found = [_or_zeros(g, t, create_graph) for g, t in zip(found, wanted, strict=True)]
    elif not allow_unused and any(g is None for g in found):
        at = next(i for i, g in enumerate(found) if g is None)
        raise RuntimeError(
            f"The differentiated Tensor at index {at} appears to not have been used in the graph. Set "
            f"allow_unused=True if this is the desired behavior."
        )
    return dict(zip(inputs, found, strict=True)) if type(inputs) is dict else tuple(found)


def _refuse_outside(wanted: Sequence[Target]) -> None:
    for t in wanted:
        if isinstance(t, Tensor) and not t._keys & AUTOGRAD:
            raise RuntimeError("One of the differentiated Tensors does not require grad")


def _or_zeros(g: Any, t: Target, create_graph: bool) -> Any:
    """A gradient, or zeros where none arrived."""
    if g is not None:
        return g
    if isinstance(t, GradientEdge):
        raise RuntimeError(
            "materialize_grads cannot be used when the given input is a GradientEdge"
        )
    zeros: Any = t.new_zeros(t._shape)
    return zeros.requires_grad_() if create_graph else zeros


Place = tuple[Any, int]


def _place(meta: AutogradMeta) -> Place:
    """Where gradients of a tensor arrive: at a leaf, or at one output of a node."""
    return (meta, 0) if meta.is_leaf else (meta.node, meta.output_nr)


def run(
    roots: list[Any],
    grads: list[Tensor],
    keep: bool,
    create_graph: bool,
    inputs: Sequence[Any] | None = None,
    *,
    accumulating: bool = False,
) -> list[Any]:
    """Walk the graph from ``roots``.

    Args:
        roots: outputs.
        grads: their gradients.
        keep: leave saved values in place, for another walk.
        create_graph: record what the formulas compute.
        inputs: visit only what leads to these.
        accumulating: add gradients to the ``grad`` of leaves, instead of returning those of inputs.

    Returns:
        Gradients of ``inputs``, None where none arrived; an empty list if they were accumulated.
    """
    starts = [place_of(t) for t in roots]
    wanted: Sequence[AutogradMeta] = ()
    targets: dict[Place, Any] | None = None
    needed: dict[Node, bool] | None = None
    if inputs is not None:
        wanted = [place_of(t) for t in inputs]
        targets = dict.fromkeys(map(_place, wanted))
        needed = _on_the_way(starts, targets)
    walk = None
    if OBSERVED:
        walk = walks.Walk(starts, needed, targets)
        walks.enter(walk)
    restore = MASKS.keep
    # Without autocast: gradients are computed in the dtypes that the forward pass had.
    MASKS.keep = keep_mask(restore, create_graph) & ~AUTOCAST
    activate()
    try:
        hooked = None
        if HOOKED_LEAVES:
            collected: dict[AutogradMeta, Any] = {}
            finish = partial(_finish_hooked, None if accumulating else collected, create_graph)
            hooked = HookedLeaves(starts, needed, finish)
        leaves = _walk(starts, grads, keep, targets, needed, hooked)
        if hooked is not None:
            hooked.rest(leaves)
        if accumulating:
            deliver(leaves, create_graph)
            return []
        if hooked is not None:
            leaves.update(collected)
        return [
            leaves.get(meta) if meta.is_leaf else (targets or {})[_place(meta)] for meta in wanted
        ]
    finally:
        MASKS.keep = restore
        deactivate()
        if walk is not None:
            walks.enter(walk.outer)


def _finish_hooked(
    collected: dict[AutogradMeta, Any] | None, create_graph: bool, meta: AutogradMeta, g: Any
) -> None:
    """What happens to the complete gradient of a leaf that has hooks.

    Args:
        collected: where to put it, or None to add it to the leaf's ``grad``.
        create_graph: whether that is recorded.
        meta: the leaf.
        g: its gradient.
    """
    g = hooked_gradient(meta, g)
    if collected is None:
        finish_leaf(meta, g, create_graph)
    else:
        collected[meta] = g


def _walk(
    edges: Sequence[AutogradMeta | None],
    results: Sequence[Any],
    keep: bool,
    targets: dict[Place, Any] | None,
    needed: dict[Node, bool] | None,
    hooked: HookedLeaves | None,
) -> dict[AutogradMeta, Any]:
    """Send gradients along edges, node after node; returns what arrived at the leaves.

    With ``targets``, what arrives at them is put into its values, and other leaves and nodes that
    do not lead to one (are not ``needed``) get nothing. ``hooked`` takes gradients of leaves that
    have hooks as they become complete.
    """
    heap: list[tuple[int, Node]] = []
    buffers: dict[Node, list[Any]] = {}  # by node in the heap, what arrived at its outputs
    leaves: dict[AutogradMeta, Any] = {}
    evaluate = anomaly_mode.evaluate if anomaly_mode.is_anomaly_enabled() else None
    # Most graphs are chains: the next node then is known without a trip through the heap.
    following: Node | None = None
    arrived: list[Any] = []
    while True:
        i = 0
        for edge in edges:
            g = results[i]
            i += 1
            if edge is None or g is None:
                continue
            node = edge.node
            if edge.is_leaf:
                if targets is None or (edge, 0) in targets:
                    leaves[edge] = leaves[edge] + g if edge in leaves else g
                continue
            if node is None or (needed is not None and node not in needed):
                continue
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
            at = edge.output_nr
            waiting[at] = g if waiting[at] is None else waiting[at] + g
        # Drop every reference, so that a leaf's only gradient can be taken over without a copy.
        g = results = waiting = None  # type: ignore[assignment]
        if hooked is not None:
            hooked.passed(edges, leaves)
        if heap:
            if following is not None:
                buffers[following] = arrived
                heappush(heap, (-following.number, following))
            node = heappop(heap)[1]
            arrived = buffers.pop(node)
        elif following is not None:
            node = following
        else:
            return leaves
        following = None
        if targets is not None and needed is not None and _collect(node, arrived, targets, needed):
            edges, results, arrived = (), (), []
            continue
        if node.hooks is None:
            results = node.apply(*arrived) if evaluate is None else evaluate(node, arrived)
        else:
            run_tensor_hooks(node.hooks, arrived)
            results = call_with_hooks(node, arrived, evaluate)
        arrived = []
        edges = node.edges
        if not keep:
            node.release()


def _collect(
    node: Node, arrived: list[Any], targets: dict[Place, Any], needed: dict[Node, bool]
) -> bool:
    """Keep the gradients that were asked for; returns whether the walk ends at this node.

    There, they are what the hooks of the tensors make of them. Where it goes on, those are called
    later.
    """
    ends = not needed[node]
    if ends and node.hooks is not None:
        run_tensor_hooks(node.hooks, arrived)
    for i, g in enumerate(arrived):
        if (node, i) in targets:
            targets[node, i] = g
    return ends


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
