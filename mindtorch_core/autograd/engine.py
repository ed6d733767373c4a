"""The engine: walks the graph from the outputs to the leaves.

Nodes wait in a heap by falling number, so each is visited once, after everything that consumes its
outputs, without a first pass that counts dependencies and without recursion.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any, Final

from ..autograd_state import AutogradMeta
from ..dispatch.autocast_keys import AUTOCAST
from ..dispatch.keys import ACTIVE, AUTOGRAD, MASKS, activate, deactivate
from ..operators.define import fn
from ..shapes import show
from ..tensor import Tensor
from . import anomaly_mode
from .grad_mode import is_inference_mode_enabled, keep_mask
from .node import Node

__all__ = ["backward", "grad", "run"]


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Accumulate gradients of ``tensors`` into the ``grad`` of the graph's leaves.

    Args:
        tensors: outputs to differentiate.
        grad_tensors: gradient of each; may be left out for tensors of one element.
        retain_graph: keep what the formulas need, for another walk; by default ``create_graph``.
        create_graph: record the walk itself, for higher derivatives.
        inputs: accumulate only into these.

    Raises:
        RuntimeError: if an output does not require grad, or its gradient is missing.
    """
    roots = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    given = [grad_tensors] if isinstance(grad_tensors, Tensor) else grad_tensors
    only = None
    if inputs is not None:
        only = [inputs] if isinstance(inputs, Tensor) else list(inputs)
        if not only:
            raise RuntimeError("'inputs' argument to backward() cannot be empty.")
    keep = create_graph if retain_graph is None else retain_graph
    found = run(roots, _start(roots, given), keep, create_graph, only)
    if only is not None:
        for t, g in zip(only, found, strict=True):
            if g is not None:
                accumulate(_meta(t), g, create_graph)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """Gradients of ``outputs`` with respect to ``inputs``, returned instead of accumulated.

    Args:
        outputs: outputs to differentiate.
        inputs: tensors to differentiate with respect to.
        grad_outputs: gradient of each output; may be left out for tensors of one element.
        retain_graph: keep what the formulas need, for another walk; by default ``create_graph``.
        create_graph: record the walk itself, for higher derivatives.
        allow_unused: give None for inputs that no output depends on, instead of raising.
        materialize_grads: give zeros for them.

    Raises:
        RuntimeError: if an input does not require grad, or is not part of the graph.
    """
    roots = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    wanted = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    given = [grad_outputs] if isinstance(grad_outputs, Tensor) else grad_outputs
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True"
        )
    for t in wanted:
        if not t._keys & AUTOGRAD:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    keep = create_graph if retain_graph is None else retain_graph
    found = run(roots, _start(roots, given), keep, create_graph, wanted)
    if materialize_grads:
        return tuple(
            g if g is not None else t.new_zeros(t._shape)
            for g, t in zip(found, wanted, strict=True)
        )
    if not allow_unused and any(g is None for g in found):
        at = next(i for i, g in enumerate(found) if g is None)
        raise RuntimeError(
            f"The differentiated Tensor at index {at} appears to not have been used in the graph. Set "
            f"allow_unused=True if this is the desired behavior."
        )
    return tuple(found)


def _start(roots: list[Tensor], given: Sequence[Tensor | None] | None) -> list[Tensor]:
    """Check the outputs and fill in missing gradients."""
    if given is not None and len(given) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(given)} gradients")
    out: list[Tensor] = []
    for i, t in enumerate(roots):
        t._settled()
        if not t._keys & AUTOGRAD:
            raise RuntimeError(
                f"element {i} of tensors does not require grad and does not have a grad_fn"
            )
        g = None if given is None else given[i]
        out.append(_implicit(t) if g is None else _explicit(i, t, g))
    return out


def _implicit(t: Tensor) -> Tensor:
    """The gradient of an output for which none was given."""
    if t.numel() != 1:
        raise RuntimeError(
            f"grad can be implicitly created only for scalar outputs, got shape {show(t._shape)}"
        )
    if t._dtype.is_complex:
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {t._dtype}"
        )
    return _one(t)


def _explicit(i: int, t: Tensor, g: Any) -> Tensor:
    """Check the gradient given for output ``i`` and bring it to the output's dtype."""
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    if g._shape != t._shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has "
            f"a shape of {t.shape}."
        )
    if g._dtype.is_complex is not t._dtype.is_complex:
        raise RuntimeError(
            f"For complex Tensors, both grad_output and output are required to have the same dtype. "
            f"Mismatch in dtype: grad_output[{i}] has a dtype of {g._dtype} and output[{i}] has a "
            f"dtype of {t._dtype}."
        )
    if g._device is not t._device:
        raise RuntimeError(
            f"invalid gradient at index {i} - expected device {t._device} but got {g._device}"
        )
    return g if g._dtype is t._dtype else g.to(t._dtype)


_ONES: Final[dict[tuple[Any, ...], Tensor]] = {}


def _one(t: Tensor) -> Tensor:
    """The gradient that backward starts from. Kept for the next time, unless a hook changed it."""
    if ACTIVE and is_inference_mode_enabled():
        return fn.ones(t._shape, dtype=t._dtype, device=t._device)
    key = (t._shape, t._dtype, t._device)
    g = _ONES.get(key)
    s = None if g is None else g._storage
    if g is None or (s is not None and (s.version or s.pending is not None)):
        g = fn.ones(t._shape, dtype=t._dtype, device=t._device)
        _ONES[key] = g
    return g


def _meta(t: Tensor) -> AutogradMeta:
    meta = t._autograd
    if meta is None:
        raise RuntimeError("the tensor is not part of a graph")
    return meta


Place = tuple[Any, int]


def _place(meta: AutogradMeta) -> Place:
    """Where gradients of a tensor arrive: at a leaf, or at one output of a node."""
    return (meta, 0) if meta.is_leaf else (meta.node, meta.output_nr)


def run(
    roots: list[Tensor],
    grads: list[Tensor],
    keep: bool,
    create_graph: bool,
    inputs: Sequence[Tensor] | None,
) -> list[Any]:
    """Walk the graph from ``roots``.

    Args:
        roots: outputs.
        grads: their gradients.
        keep: leave saved values in place, for another walk.
        create_graph: record what the formulas compute.
        inputs: collect the gradients of these instead of accumulating into leaves.

    Returns:
        Gradients of ``inputs``, None where none arrived; an empty list without ``inputs``.
    """
    targets: dict[Place, Any] | None = None
    needed: set[Node] | None = None
    if inputs is not None:
        targets = dict.fromkeys(_place(_meta(t)) for t in inputs)
        needed = _on_the_way(roots, targets)
    restore = MASKS.keep
    # Without autocast: gradients are computed in the dtypes that the forward pass had.
    MASKS.keep = keep_mask(restore, create_graph) & ~AUTOCAST
    activate()
    try:
        leaves = _walk([_meta(t) for t in roots], grads, keep, targets, needed)
        _run_leaf_hooks(leaves)
        if inputs is None or targets is None:
            while leaves:
                meta, g = leaves.popitem()
                accumulate(meta, g, create_graph)
            return []
        return [
            leaves.get(meta) if meta.is_leaf else targets[_place(meta)]
            for meta in map(_meta, inputs)
        ]
    finally:
        MASKS.keep = restore
        deactivate()


def _walk(
    edges: Sequence[AutogradMeta | None],
    results: Sequence[Any],
    keep: bool,
    targets: dict[Place, Any] | None,
    needed: set[Node] | None,
) -> dict[AutogradMeta, Any]:
    """Send gradients along edges, node after node; returns what arrived at the leaves.

    With ``targets``, what arrives at them is put into its values, and other leaves and nodes that
    do not lead to one (are not ``needed``) get nothing.
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
        if node.pre_hooks is not None:
            _run_hooks(node, arrived)
        if targets is not None:
            for i, g in enumerate(arrived):
                if (node, i) in targets:
                    targets[node, i] = g
        results = node.apply(*arrived) if evaluate is None else evaluate(node, arrived)
        arrived = []
        edges = node.edges
        if not keep:
            node.release()


def _run_leaf_hooks(leaves: dict[AutogradMeta, Any]) -> None:
    """Let hooks of leaves see, or replace, what arrived there."""
    for meta in leaves:
        if meta.node is not None and meta.node.pre_hooks is not None:
            arrived = [leaves[meta]]
            _run_hooks(meta.node, arrived)
            leaves[meta] = arrived[0]


def accumulate(meta: AutogradMeta, g: Any, create_graph: bool) -> None:
    """Add a gradient to a leaf's ``grad``.

    A first gradient is taken over as it is when nobody else holds it, and copied otherwise, so
    that changing one ``grad`` in place never changes another tensor.
    """
    if meta.grad is not None:
        meta.grad = meta.grad + g
    elif (
        sys.getrefcount(g) <= _UNSHARED + (g._storage is not None)
        and (g._storage is None or _lone_and_pending(g._storage))
        and (create_graph or not g._keys & AUTOGRAD)
    ):
        meta.grad = g
    else:
        meta.grad = g.clone() if create_graph else g.detach().clone()


def _lone_and_pending(storage: Any) -> bool:
    """Whether memory waits for a pipeline, and only one tensor will have it.

    That tensor is referred to once more than others, by what the pipeline recorded.
    """
    return (
        storage.pending is not None
        and storage.memory is None
        and storage.views is None
        and sys.getrefcount(storage) <= _LONE
    )


def _references_of_a_lone_storage() -> int:
    """What `sys.getrefcount` says in `_lone_and_pending` of a storage that only its tensor has."""

    class Holder:
        pass

    def probe(storage: Any) -> int:
        return sys.getrefcount(storage)

    holder: Any = Holder()
    holder._storage = object()
    return probe(holder._storage)


_LONE = _references_of_a_lone_storage()


def _count_references() -> int:
    """What `sys.getrefcount` says in `accumulate` of a gradient that nobody else holds."""

    def probe(meta: Any, g: Any, create_graph: bool) -> int:
        return sys.getrefcount(g)

    pairs: dict[Any, Any] = {object(): object()}
    meta, g = pairs.popitem()
    return probe(meta, g, False)


_UNSHARED = _count_references()


def _run_hooks(node: Node, arrived: list[Any]) -> None:
    """Let the hooks of a node's outputs see, or replace, the gradients that arrived."""
    for i, hooks in (node.pre_hooks or {}).items():
        for hook in list(hooks):
            if arrived[i] is not None:
                replaced = hook(arrived[i])
                if replaced is not None:
                    _check_replacement(arrived[i], replaced)
                    arrived[i] = replaced


def _check_replacement(g: Any, replaced: Any) -> None:
    """Refuse what a hook returned if it cannot stand for the gradient.

    Raises:
        TypeError: if it is no tensor.
        RuntimeError: if it has another shape.
    """
    if not isinstance(replaced, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(replaced).__name__}'")
    if replaced._shape != g._shape:
        raise RuntimeError(
            f"hook has changed the size of value: from {show(g._shape)} to {show(replaced._shape)}"
        )


def _on_the_way(roots: list[Tensor], targets: dict[Place, Any]) -> set[Node]:
    """Nodes from which some target is reached, or that are one."""
    reachable: dict[Node, None] = {}
    stack = [n for t in roots if (n := _meta(t).node) is not None]
    while stack:
        node = stack.pop()
        if node in reachable:
            continue
        reachable[node] = None
        stack += [
            e.node for e in node.edges if e is not None and not e.is_leaf and e.node is not None
        ]
    ends = {place for place, _ in targets}
    needed: set[Node] = set()
    for node in sorted(reachable, key=lambda n: n.number):
        if node in ends or any(
            e is not None and (e in ends if e.is_leaf else e.node in needed) for e in node.edges
        ):
            needed.add(node)
    return needed
