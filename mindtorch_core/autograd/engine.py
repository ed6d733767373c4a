"""The engine: walks the graph from the outputs to the leaves.

Nodes wait in a heap by falling number, so each is visited once, after everything that consumes its
outputs, without a first pass that counts dependencies and without recursion.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

from ..autograd_state import AutogradMeta
from ..dispatch.keys import AUTOGRAD
from ..shapes import show
from ..tensor import Tensor
from .grad_mode import is_grad_enabled, set_grad_enabled
from .node import AccumulateGrad, Node

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
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True")
    for t in wanted:
        if not t._keys & AUTOGRAD:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    keep = create_graph if retain_graph is None else retain_graph
    found = run(roots, _start(roots, given), keep, create_graph, wanted)
    if materialize_grads:
        return tuple(
            g if g is not None else t.new_zeros(t._shape) for g, t in zip(found, wanted, strict=True)
        )
    if not allow_unused and any(g is None for g in found):
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the graph. Set "
            "allow_unused=True if this is the desired behavior."
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
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        g = None if given is None else given[i]
        if g is None:
            if t.numel() != 1:
                raise RuntimeError(
                    f"grad can be implicitly created only for scalar outputs, got shape {show(t._shape)}"
                )
            g = t.new_ones(t._shape)
        elif not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        elif g._shape != t._shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has "
                f"a shape of {t.shape}."
            )
        out.append(g)
    return out


def _meta(t: Tensor) -> AutogradMeta:
    meta = t._autograd
    if meta is None:
        raise RuntimeError("the tensor is not part of a graph")
    return meta


class _Walk:
    """State of one walk: gradients that have arrived, by node or leaf."""

    __slots__ = ("buffers", "captured", "create_graph", "heap", "leaves", "needed", "targets")

    def __init__(self, create_graph: bool, targets: Sequence[Tensor] | None) -> None:
        self.create_graph = create_graph
        self.heap: list[tuple[int, Node]] = []
        self.buffers: dict[Node, list[Any]] = {}
        self.leaves: dict[AutogradMeta, Any] = {}
        self.targets: dict[tuple[Any, int], None] | None = None
        self.captured: dict[tuple[Any, int], Any] = {}
        self.needed: set[Node] | None = None
        if targets is not None:
            self.targets = dict.fromkeys(_place(_meta(t)) for t in targets)

    def send(self, edge: AutogradMeta, g: Any) -> None:
        """Add a gradient to what has arrived at the other end of an edge."""
        node = edge.node
        if edge.is_leaf:
            if self.targets is None or (edge, 0) in self.targets:
                previous = self.leaves.get(edge)
                self.leaves[edge] = g if previous is None else previous + g
            return
        if node is None or (self.needed is not None and node not in self.needed):
            return
        waiting = self.buffers.get(node)
        if waiting is None:
            waiting = self.buffers[node] = [None] * node.outputs
            heappush(self.heap, (-node.number, node))
        previous = waiting[edge.output_nr]
        waiting[edge.output_nr] = g if previous is None else previous + g


def _place(meta: AutogradMeta) -> tuple[Any, int]:
    """Where gradients of a tensor arrive: at a leaf, or at one output of a node."""
    return (meta, 0) if meta.is_leaf else (meta.node, meta.output_nr)


def run(
    roots: list[Tensor],
    grads: list[Tensor],
    keep: bool,
    create_graph: bool,
    inputs: Sequence[Tensor] | None,
) -> list[Any]:
    """Walk the graph; with ``inputs``, return their gradients instead of accumulating."""
    walk = _Walk(create_graph, inputs)
    if walk.targets is not None:
        walk.needed = _on_the_way(roots, walk.targets)
    restore = is_grad_enabled()
    set_grad_enabled(create_graph)
    try:
        for t, g in zip(roots, grads, strict=True):
            walk.send(_meta(t), g)
        del grads
        heap, buffers = walk.heap, walk.buffers
        while heap:
            node = heappop(heap)[1]
            arrived = buffers.pop(node)
            if node.pre_hooks is not None:
                _run_hooks(node, arrived)
            if walk.targets is not None:
                for i, g in enumerate(arrived):
                    if (node, i) in walk.targets:
                        walk.captured[node, i] = g
            results = node.apply(*arrived)
            if not keep:
                node.release()
            if len(results) != len(node.edges):
                raise RuntimeError(
                    f"function {node.name()} returned an incorrect number of gradients (expected "
                    f"{len(node.edges)}, got {len(results)})"
                )
            i = 0
            for edge in node.edges:
                g = results[i]
                i += 1
                if edge is not None and g is not None:
                    walk.send(edge, g)
            g = results = arrived = None  # type: ignore[assignment]  # so that leaves may own them
        return _finish(walk, inputs)
    finally:
        set_grad_enabled(restore)


def _finish(walk: _Walk, inputs: Sequence[Tensor] | None) -> list[Any]:
    """Hand the leaves their gradients, or return those of ``inputs``."""
    leaves = walk.leaves
    for meta in list(leaves):
        if isinstance(meta.node, AccumulateGrad) and meta.node.pre_hooks is not None:
            arrived = [leaves[meta]]
            _run_hooks(meta.node, arrived)
            leaves[meta] = arrived[0]
    if inputs is None:
        while leaves:
            meta, g = leaves.popitem()
            accumulate(meta, g, walk.create_graph)
            g = None
        return []
    out = []
    for t in inputs:
        place = _place(_meta(t))
        out.append(leaves.get(place[0]) if place[0] in leaves else walk.captured.get(place))
    return out


def accumulate(meta: AutogradMeta, g: Any, create_graph: bool) -> None:
    """Add a gradient to a leaf's ``grad``.

    A first gradient is taken over as it is when nobody else holds it, and copied otherwise, so
    that changing one ``grad`` in place never changes another tensor.
    """
    if meta.grad is not None:
        meta.grad = meta.grad + g
    elif g._storage is None and sys.getrefcount(g) <= _UNSHARED and (create_graph or not g._keys & AUTOGRAD):
        meta.grad = g
    else:
        meta.grad = g.clone() if create_graph else g.detach().clone()


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
                    arrived[i] = replaced


def _on_the_way(roots: list[Tensor], targets: dict[tuple[Any, int], None]) -> set[Node]:
    """Nodes from which some target is reached, or that are one."""
    reachable: dict[Node, None] = {}
    stack = [n for t in roots if (n := _meta(t).node) is not None]
    while stack:
        node = stack.pop()
        if node in reachable:
            continue
        reachable[node] = None
        stack += [e.node for e in node.edges if e is not None and not e.is_leaf and e.node is not None]
    ends = {place for place, _ in targets}
    needed: set[Node] = set()
    for node in sorted(reachable, key=lambda n: n.number):
        if node in ends or any(
            e is not None and (e in ends if e.is_leaf else e.node in needed) for e in node.edges
        ):
            needed.add(node)
    return needed
