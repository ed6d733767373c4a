"""Autograd's methods of `Tensor`."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from ..dispatch.asked_wrongly import guarded
from ..dispatch.keys import AUTOGRAD
from ..gradients import differentiation
from ..gradients.duals import drop
from ..gradients.handles import RemovableHandle, Table, add
from ..gradients.hooks import node_of, tensor_hooks
from ..gradients.inference import is_inference
from ..tensors.attached import attach
from ..tensors.autograd_state import AutogradMeta
from ..tensors.tensor import Tensor
from ..values.own_frames import hide

__all__: list[str] = []


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

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
    """
    try:
        differentiation.backward(self, gradient, retain_graph, create_graph, inputs=inputs)
    except Exception as error:
        hide(error)
        raise


def register_hook(self: Tensor, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Call ``hook(grad)`` when this tensor's gradient is known; what it returns replaces it.

    Args:
        self: the tensor.
        hook: what is called with the gradient; it returns another one, or None.

    Returns:
        A handle, whose ``remove()`` takes the hook away.

    Raises:
        RuntimeError: if the tensor does not require grad.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: grad * 2)
        >>> x.sum().backward()
        >>> x.grad
        tensor([2., 2.])
    """
    refusal = "cannot register a hook on a tensor that doesn't require gradient"
    return add(tensor_hooks(_recorded(self, refusal)), hook)


def _backward_hooks(self: Tensor) -> Table | None:
    """What `register_hook` has registered, by number; None if there is nothing."""
    meta = self._autograd
    node = None if meta is None else meta.node
    if meta is None or node is None or node.hooks is None:
        return None
    return node.hooks.tensor.get(0 if meta.is_leaf else meta.output_nr) or None


def register_post_accumulate_grad_hook(
    self: Tensor, hook: Callable[[Tensor], None]
) -> RemovableHandle:
    """Call ``hook(self)`` when backward has updated this leaf's ``grad``.

    The gradient is complete then, though backward may go on elsewhere, so that the hook may use it
    up: update the leaf and set ``grad`` to None.

    Raises:
        RuntimeError: if the tensor does not require grad, or is no leaf.
    """
    meta = _recorded(self, "cannot register a hook on a tensor that doesn't require gradient")
    if not meta.is_leaf:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return add(node_of(meta).own_hooks().accumulated, hook)


def _recorded(t: Tensor, refusal: str) -> AutogradMeta:
    """The place in the graph of a tensor that requires grad.

    Raises:
        RuntimeError: if it does not; with ``refusal`` as text.
    """
    meta = t._autograd
    if not t._keys & AUTOGRAD or meta is None:
        raise RuntimeError(refusal)
    return meta


def retain_grad(self: Tensor) -> None:
    """Keep the gradient of this result in ``grad`` when backward passes. Leaves always do.

    Raises:
        RuntimeError: if the tensor does not require grad.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> y = x * 3
        >>> y.retain_grad()
        >>> y.sum().backward()
        >>> y.grad
        tensor([1., 1.])
    """
    meta = _recorded(self, "can't retain_grad on Tensor that has requires_grad=False")
    if not meta.is_leaf and meta.node is not None and not retains_grad(self):
        places = meta.node.own_hooks().kept.setdefault(meta.output_nr, [])
        places.append(weakref.ref(meta))


def retains_grad(self: Tensor) -> bool:
    """Whether `retain_grad` was called on this result; False for leaves."""
    meta = self._autograd
    if meta is None or meta.is_leaf or meta.node is None or meta.node.hooks is None:
        return False
    return any(place() is meta for place in meta.node.hooks.kept.get(meta.output_nr, ()))


@guarded
def detach_(self: Tensor) -> Tensor:
    """Cut this tensor off its history and its tangent, in place. Its ``grad`` stays.

    Raises:
        RuntimeError: for a view; use ``detach()``.
    """
    if self._base is not None:
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using split(), chunk() or "
            "unbind(), detach each part."
        )
    before = self._autograd
    if before is not None and not before.is_leaf:
        self._own_storage()  # by which its node, if that saved it, notices later changes
        self._autograd = None
        if before.grad is not None:
            self.grad = before.grad
    self._keys &= ~AUTOGRAD
    drop(self)
    return self


attach(
    __name__,
    {
        "_backward_hooks": property(_backward_hooks),
        "backward": backward,
        "detach_": detach_,
        "is_inference": is_inference,
        "register_hook": register_hook,
        "register_post_accumulate_grad_hook": register_post_accumulate_grad_hook,
        "retain_grad": retain_grad,
        "retains_grad": property(retains_grad),
    },
)
