"""In-place methods that call a Python function with every element: slow, and on no graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dispatch.asked_wrongly import guarded
from ...tensors.attached import attach
from ...tensors.tensor import Tensor, from_values
from ...values.dtypes import BOOL, COMPLEX, FLOATING, unpack

__all__ = ["apply_", "map2_", "map_"]

_KINDS = {BOOL: bool, FLOATING: float, COMPLEX: complex}


def _elements(t: Tensor) -> list[Any]:
    return unpack(t._host(), t._dtype)


def _filled(self: Tensor, name: str, others: tuple[Tensor, ...], callable: Any) -> Tensor:
    """Write what a function makes of the elements into the tensor.

    Raises:
        RuntimeError: if a tensor requires grad, or another one's shape does not expand to this one's.
        TypeError: if another one has another dtype, or the function returns no number.
    """
    for t in (self, *others):
        if t.requires_grad:
            raise RuntimeError(
                f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
                "instead."
            )
        if t._dtype is not self._dtype:
            raise TypeError(f"{name}: expected a tensor of {self._dtype} (got {t._dtype})")
    rows = [_elements(self), *(_elements(t.expand(self._shape)) for t in others)]
    kind = _KINDS.get(self._dtype.category, int)
    values = []
    for row in zip(*rows, strict=True):
        value = callable(*row)
        if isinstance(value, str | bytes):  # Python would read a number out of them
            raise TypeError(f"must be real number, not {type(value).__name__}")
        values.append(kind(value))
    self.copy_(from_values(values, self._shape, self._dtype, self._device))
    return self


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace every element by what a Python function returns for it.

    Args:
        self: the tensor.
        callable: takes a Python number and returns one.

    Raises:
        RuntimeError: if the tensor requires grad.
        TypeError: if the function returns no number.
    """
    return _filled(self, "apply_", (), callable)


@guarded
def map_(self: Tensor, other: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace every element by what a Python function returns for it and that of another tensor.

    Args:
        self: the tensor.
        other: of the same dtype; its shape expands to that of the tensor.
        callable: takes two Python numbers and returns one.

    Raises:
        RuntimeError: if a tensor requires grad, or the shape does not expand.
        TypeError: if the dtypes differ, or the function returns no number.
    """
    return _filled(self, "map_", (other,), callable)


@guarded
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replace every element by what a Python function returns for it and those of two tensors.

    Args:
        self: the tensor.
        x: of the same dtype; its shape expands to that of the tensor.
        y: another such tensor.
        callable: takes three Python numbers and returns one.

    Raises:
        RuntimeError: if a tensor requires grad, or a shape does not expand.
        TypeError: if the dtypes differ, or the function returns no number.
    """
    return _filled(self, "map2_", (x, y), callable)


attach(__name__, {"apply_": apply_, "map2_": map2_, "map_": map_})
