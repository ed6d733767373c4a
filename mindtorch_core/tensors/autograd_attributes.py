"""A tensor's place in the graph as its users see it: `requires_grad`, `grad`, `grad_fn`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from ..dispatch.keys import AUTOGRAD, MASKS, WITH_AUTOGRAD
from ..values.devices import device
from ..values.dtypes import dtype
from ..values.flags import check_bool
from ..values.shapes import Shape
from ..values.user_warnings import warn_user
from .autograd_state import GRADS_USED, INFERENCE, AutogradMeta

if TYPE_CHECKING:
    from ..gradients.node import Node
    from .tensor import Tensor

__all__ = ["AutogradAttributes"]


class AutogradAttributes:
    """What `Tensor` says of its gradient, and how users change it."""

    if not TYPE_CHECKING:  # a type checker would want the slots that Tensor has
        __slots__ = ()
    else:  # supplied by Tensor
        _shape: Shape
        _dtype: dtype
        _device: device
        _keys: int
        _autograd: AutogradMeta | None
        retains_grad: bool

    @property
    def requires_grad(self) -> bool:
        """Whether operations on the tensor are recorded for backward."""
        return bool(self._keys & AUTOGRAD)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if value and not self.is_leaf:
            raise RuntimeError("you can only change requires_grad flags of leaf variables.")
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Record operations on this tensor from now on (or stop doing so); returns it.

        Args:
            requires_grad: whether they are recorded.

        Raises:
            RuntimeError: for a dtype without gradients, or when switched off on a result.

        Example:
            >>> torch.ones(2).requires_grad_()
            tensor([1., 1.], requires_grad=True)
        """
        check_bool(requires_grad, "requires_grad_(): argument 'requires_grad' (position 1)")
        if requires_grad:
            if not (self._dtype.is_floating_point or self._dtype.is_complex):
                raise RuntimeError(
                    "Only Tensors of floating point and complex dtype can require gradients "
                    f"(this one is {self._dtype})"
                )
            if not self._keys & AUTOGRAD:
                if self._keys & INFERENCE and not MASKS.include & INFERENCE:
                    raise RuntimeError(
                        "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                        "allowed. Set it on a clone, which is a normal tensor."
                    )
                if self._autograd is None or not self._autograd.is_leaf:
                    self._autograd = AutogradMeta.of_leaf(self)
                self._keys = WITH_AUTOGRAD[self._keys]
        elif self._keys & AUTOGRAD:
            if not self.is_leaf:
                raise RuntimeError(
                    "you can only change requires_grad flags of leaf variables. If you want to use "
                    "a computed variable in a subgraph that doesn't require differentiation use "
                    "var_no_grad = var.detach()."
                )
            self._keys &= ~AUTOGRAD
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor was made by the user rather than by a recorded op."""
        meta = self._autograd
        return not self._keys & AUTOGRAD or meta is None or meta.is_leaf

    @property
    def grad_fn(self) -> Node | None:
        """The node that computes this tensor's gradient, None for leaves."""
        return None if self.is_leaf or self._autograd is None else self._autograd.node

    @property
    def output_nr(self) -> int:
        """Which output of its node the tensor is."""
        return 0 if self._autograd is None else self._autograd.output_nr

    @property
    def grad(self) -> Tensor | None:
        """Gradient accumulated by backward.

        Warns:
            UserWarning: for a result that retains no gradient.
        """
        if GRADS_USED:
            for note in GRADS_USED:
                note(self, "read")  # type: ignore[arg-type]
        meta = self._autograd
        if meta is None:
            return None
        found: Tensor | None = meta.grad
        if found is None and not self.is_leaf and not self.retains_grad:
            warn_user(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
                "attribute won't be populated during autograd.backward(). Call .retain_grad() on it before "
                "backward(), or read the .grad of the leaf it is made of.",
            )
        return found

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        meta = self._autograd
        for note in GRADS_USED:
            note(self, "set")  # type: ignore[arg-type]
        if value is None:
            if meta is not None:
                meta.grad = None
            return
        if not isinstance(value, AutogradAttributes):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type "
                f"{type(value).__name__}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if value._shape != self._shape:
            raise RuntimeError(
                f"assigned grad has data of a different size: {list(value._shape)} for a tensor of "
                f"{list(self._shape)}"
            )
        if value._dtype is not self._dtype:
            raise RuntimeError(
                f"attempting to assign a gradient with dtype {value._dtype} to a tensor with dtype "
                f"{self._dtype}: convert it with grad.to({self._dtype})"
            )
        if value._device is not self._device:
            raise RuntimeError(
                f"assigned grad has data located on a different device: {value._device} for a tensor "
                f"on {self._device}"
            )
        if meta is None:
            meta = self._autograd = AutogradMeta.of_leaf(self)
        meta.grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None
