"""Functions that users have called while backward passes: at tensors, at nodes, at leaves.

A node that has any carries a `Hooks`; the engine asks for it once per node. Hooks are called in the
order in which they were registered: those of the node's outputs, those that retain gradients, those
before the node, the formulas, those after it.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from ..tensors.autograd_state import AutogradMeta
from ..tensors.tensor import Tensor
from .handles import Hook, Hooks, Table
from .node import Node, accumulator

__all__ = [
    "call_with_hooks",
    "move_kept",
    "node_of",
    "run_tensor_hooks",
    "tensor_hooks",
]


def node_of(meta: AutogradMeta) -> Node:
    """The node at a place in the graph; at a leaf, the one that ends it."""
    return accumulator(meta) if meta.is_leaf or meta.node is None else meta.node


def tensor_hooks(meta: AutogradMeta) -> Table:
    """What the gradient that arrives at a place in the graph passes through."""
    at = 0 if meta.is_leaf else meta.output_nr
    return node_of(meta).own_hooks().tensor.setdefault(at, OrderedDict())


def move_kept(before: AutogradMeta, t: Tensor) -> None:
    """Let a tensor whose history an in-place op replaced retain its gradient as it did.

    Args:
        before: its place in the graph until then.
        t: the tensor.
    """
    node, after = before.node, t._autograd
    if node is None or node.hooks is None or after is None or after.node is None:
        return
    places = node.hooks.kept.get(before.output_nr, [])
    for place in places:
        if place() is before and not before.is_leaf:
            places.remove(place)
            after.grad = before.grad
            after.node.own_hooks().kept.setdefault(after.output_nr, []).append(weakref.ref(after))
            return


# ---- calling them ------------------------------------------------------------------------------


def run_tensor_hooks(hooks: Hooks, arrived: list[Any]) -> None:
    """Let the hooks of a node's outputs see, or replace, the gradients that arrived, None among them.

    Args:
        hooks: of the node.
        arrived: one gradient or None per output; replaced in place.
    """
    for i, table in hooks.tensor.items():
        for hook in list(table.values()):
            found = hook(arrived[i])
            if found is not None:
                arrived[i] = _checked(arrived[i], found, hook)
    for i, places in hooks.kept.items():
        g = arrived[i]
        if g is not None:
            for place in places:
                meta = place()
                if meta is not None:
                    meta.grad = g.clone() if meta.grad is None else meta.grad + g


def call_with_hooks(
    node: Node, hooks: Hooks, arrived: list[Any], evaluate: Callable[..., Any] | None
) -> Any:
    """Evaluate a node between the hooks of its outputs and those before and after it.

    Args:
        node: the node.
        hooks: of the node.
        arrived: gradients of its outputs.
        evaluate: ``evaluate(node, arrived)``, used instead of ``node.apply`` if given.
    """
    run_tensor_hooks(hooks, arrived)
    arrived = run_prehooks(hooks, arrived)
    if not node.custom and all(g is None for g in arrived):  # a hook took the last one away
        results: Any = (None,) * len(node.edges)
    else:
        results = node.apply(*arrived) if evaluate is None else evaluate(node, arrived)
    return run_posthooks(hooks, results, arrived)


def run_prehooks(hooks: Hooks, arrived: list[Any]) -> list[Any]:
    """The gradients of a node's outputs after the hooks before it."""
    for hook in list(hooks.pre.values()):
        found = hook(tuple(arrived))
        if found is not None:
            arrived = _checked_all(arrived, found, hook)
    return arrived


def run_posthooks(hooks: Hooks, results: Sequence[Any], arrived: list[Any]) -> Sequence[Any]:
    """The gradients of a node's inputs after the hooks behind it."""
    for hook in list(hooks.post.values()):
        found = hook(tuple(results), tuple(arrived))
        if found is not None:
            results = _checked_all(results, found, hook)
    return results


def _checked_all(before: Sequence[Any], found: Any, hook: Hook) -> list[Any]:
    """Refuse what a hook of a node returned if it cannot stand for the gradients.

    Raises:
        TypeError: if it is no tuple of tensors.
        RuntimeError: if it is one of another length, or of tensors that do not fit.
    """
    if not isinstance(found, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(found).__name__}'")
    if len(found) != len(before):
        raise RuntimeError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(found)}, but "
            f"expected {len(before)})"
        )
    return [
        None if new is None else _checked(g, new, hook)
        for g, new in zip(before, found, strict=True)
    ]


def _checked(g: Any, found: Any, hook: Hook) -> Tensor:
    """Refuse what a hook returned if it cannot stand for the gradient ``g``.

    Raises:
        TypeError: if it is no tensor.
        RuntimeError: if its shape, dtype or device differ, or there is no gradient.
    """
    if g is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(found, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(found).__name__}'")
    if found._shape != g._shape:
        raise RuntimeError(
            f"hook '{_name(hook)}' has changed the size of value: from {list(g._shape)} to "
            f"{list(found._shape)}"
        )
    if found._dtype is not g._dtype or found._device is not g._device:
        raise RuntimeError(
            f"hook '{_name(hook)}' has changed the type of value (was {g._dtype} on {g._device}, got "
            f"{found._dtype} on {found._device})"
        )
    return found


def _name(hook: Hook) -> str:
    return str(getattr(hook, "__name__", "<unknown>"))
