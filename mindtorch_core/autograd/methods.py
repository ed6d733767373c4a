"""Autograd's methods of `Tensor`."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from ..autograd_state import AutogradMeta
from ..dispatch.keys import AUTOGRAD
from ..tensor import Tensor
from . import engine
from .inference import is_inference
from .node import hooks_at

__all__ = ["RemovableHandle"]


class RemovableHandle:
    """Handle of a hook; `remove` takes it off."""

    __slots__ = ("_hook", "_hooks")

    def __init__(self, hooks: list[Callable[[Any], Any]], hook: Callable[[Any], Any]) -> None:
        self._hooks = hooks
        self._hook = hook

    def remove(self) -> None:
        """Take the hook off. A second call does nothing."""
        if self._hook in self._hooks:
            self._hooks.remove(self._hook)


def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Accumulate the gradient of this tensor into the leaves of its graph.

    Args:
        self: the tensor to differentiate.
        gradient: gradient of this tensor; may be left out if it has one element.
        retain_graph: keep what a second walk needs; by default ``create_graph``.
        create_graph: record the walk itself, for higher derivatives.
        inputs: accumulate only into these.

    Raises:
        RuntimeError: if the tensor does not require grad, or the graph was freed.
    """
    engine.backward(self, gradient, retain_graph, create_graph, inputs)


def register_hook(self: Tensor, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Call ``hook(grad)`` when this tensor's gradient is known; what it returns replaces it.

    Raises:
        RuntimeError: if the tensor does not require grad.
    """
    hooks = _hooks_of(self, "cannot register a hook on a tensor that doesn't require gradient")
    at = len(hooks)
    while at and isinstance(hooks[at - 1], _Keeper):  # what is retained has passed every hook
        at -= 1
    hooks.insert(at, hook)
    return RemovableHandle(hooks, hook)


def _hooks_of(t: Tensor, refusal: str) -> list[Callable[[Any], Any]]:
    meta = t._autograd
    if not t._keys & AUTOGRAD or meta is None:
        raise RuntimeError(refusal)
    return hooks_at(meta)


def retain_grad(self: Tensor) -> None:
    """Keep the gradient of this result in ``grad`` when backward passes. Leaves always do.

    Raises:
        RuntimeError: if the tensor does not require grad.
    """
    hooks = _hooks_of(self, "can't retain_grad on Tensor that has requires_grad=False")
    meta = self._autograd
    if meta is not None and not meta.is_leaf and not retains_grad(self):
        hooks.append(_Keeper(meta))


class _Keeper:
    """The hook behind `retain_grad`: puts gradients where the tensor's ``grad`` reads them."""

    __slots__ = ("target",)

    def __init__(self, meta: AutogradMeta) -> None:
        self.target = weakref.ref(meta)

    def __call__(self, g: Any) -> None:
        target = self.target()
        if target is not None:
            target.grad = g if target.grad is None else target.grad + g


def retains_grad(self: Tensor) -> bool:
    """Whether `retain_grad` was called on this result; False for leaves."""
    meta = self._autograd
    if meta is None or meta.is_leaf or meta.node is None:
        return False
    hooks = (meta.node.pre_hooks or {}).get(meta.output_nr, ())
    return any(isinstance(h, _Keeper) and h.target() is meta for h in hooks)


def detach_(self: Tensor) -> Tensor:
    """Cut this tensor off its history, in place.

    Raises:
        RuntimeError: for a view; use ``detach()``.
    """
    if self._base is not None:
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using split(), chunk() or "
            "unbind(), detach each part."
        )
    self._autograd = None
    self._keys &= ~AUTOGRAD
    return self


for _method in (backward, register_hook, retain_grad, detach_, is_inference):
    setattr(Tensor, _method.__name__, _method)
Tensor.retains_grad = property(retains_grad)  # type: ignore[assignment]
