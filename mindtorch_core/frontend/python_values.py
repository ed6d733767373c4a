"""Tensors as Python's numbers and sequences. Each method first launches recorded work.

The functions have the methods' names, which tracebacks and the reports of pipelines show.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..dispatch.calls.binding import python_number
from ..dispatch.dispatcher import dispatch
from ..dispatch.functions import fn
from ..dispatch.keys import AUTOGRAD, MASKS, UNRESOLVED, DispatchKey, is_recording
from ..tensors.attached import attach
from ..tensors.storage import BEFORE_LOOK
from ..tensors.subclasses import hollow
from ..tensors.tensor import Tensor, alias
from ..values.devices import TABLE
from ..values.dtypes import unpack
from ..values.own_frames import hide
from ..values.shapes import Shape, numel
from ..values.user_warnings import warn_user_once

__all__ = ["item", "only_element", "tolist"]

_PYTHON: Final = int(DispatchKey.Python)


def _host(self: Tensor) -> memoryview:
    """Row-major bytes in host memory."""
    # Below autograd: reading the elements is not recorded.
    there = None if not BEFORE_LOOK or self._pending else self
    plain = alias(self._settled())
    if BEFORE_LOOK:
        for note in BEFORE_LOOK:
            note(plain._own_storage(), plain._dtype, there)
    if plain._keys & UNRESOLVED:
        plain = plain.resolve_conj().resolve_neg()._settled()
    return TABLE[self._device.type].runtime.to_host(plain)


def item(self: Tensor) -> bool | int | float:
    """The one element as a Python number.

    Those of complex tensors are complex; the annotation leaves them out, as PyTorch's does, so that
    sums of losses need no conversion.

    Raises:
        RuntimeError: if there is not exactly one element, or the device keeps none.

    Example:
        >>> torch.tensor([2.5]).item()
        2.5
    """
    if numel(self._shape) != 1:
        raise RuntimeError(
            f"a Tensor with {numel(self._shape)} elements cannot be converted to Scalar"
        )
    if (MASKS.include | self._keys) & _PYTHON:
        found: bool | int | float = dispatch("aten::_local_scalar_dense", None, self)
        return found
    return only_element(self)


def only_element(self: Tensor) -> bool | int | float:
    """The first element as a Python number, without asking dispatch modes and classes of tensors."""
    try:
        return unpack(self._host(), self._dtype)[0]  # type: ignore[no-any-return]  # of its dtype
    except NotImplementedError:
        if TABLE[self._device.type].runtime.executes:
            raise
    except IndexError:
        raise RuntimeError("_local_scalar_dense: Empty tensor not supported") from None
    raise RuntimeError(
        f"Tensor.item() cannot be called on {self._device.type} tensors: they have no elements"
    )


def tolist(self: Tensor) -> list[Any]:
    """The elements as nested lists of Python numbers (one number for 0 dimensions).

    The annotation says what it is with dimensions; `item` is for those without.

    Example:
        >>> torch.tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
    """
    try:
        if hollow(self):
            raise RuntimeError(
                f".tolist() is not supported for tensor subclasses, got {type(self).__name__}"
            )
        flat = unpack(self._host(), self._dtype)
    except Exception as error:
        hide(error)
        raise
    shape = self._shape
    if not shape:
        return flat[0]  # type: ignore[no-any-return]  # a number, and none that tells which
    for size in reversed(shape[1:]):
        groups = numel(shape) if size == 0 else len(flat) // size
        flat = [flat[i * size : (i + 1) * size] for i in range(groups)]
    return flat if numel(shape) else _empty_lists(shape)


def __bool__(self: Tensor) -> bool:
    """Whether the one element differs from zero."""
    if numel(self._shape) != 1:
        what = "no values" if not numel(self._shape) else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
    return bool(self.item())


def __int__(self: Tensor) -> int:
    """The one element as an int."""
    return int(_python_scalar(self, "int64_t"))


def __float__(self: Tensor) -> float:
    """The one element as a float."""
    _leave_gradient(self)
    return float(_python_scalar(self, "double"))


def __complex__(self: Tensor) -> complex:
    """The one element as a complex number."""
    _leave_gradient(self)
    return complex(_python_scalar(self, ""))


def _leave_gradient(self: Tensor) -> None:
    """Warn where a number is taken that is not differentiated."""
    if self._keys & AUTOGRAD and is_recording():
        warn_user_once(
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior: it "
            "has no gradient. tensor.detach() says that none is wanted"
        )


def _python_scalar(self: Tensor, real: str) -> Any:
    """The one element, for a conversion to Python's ``real`` type (any type if empty)."""
    if numel(self._shape) != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    value = self.item()
    if not real or not self._dtype.is_complex:
        return value
    if value.imag:
        raise RuntimeError(f"value cannot be converted to type {real} without overflow")
    return value.real


def __index__(self: Tensor) -> int:
    """The one element of an integer tensor, for use as an index."""
    if numel(self._shape) != 1 or self._dtype.category > 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(self.item())


def __len__(self: Tensor) -> int:
    """Size of the first dimension."""
    if not self._shape:
        raise TypeError("len() of a 0-d tensor")
    return self._shape[0]


def __iter__(self: Tensor) -> Iterator[Tensor]:
    """The slices along the first dimension."""
    if not self._shape:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def __reversed__(self: Tensor) -> Tensor:
    """The slices in reverse order, as one tensor."""
    if not self._shape:
        return self
    last = self._shape[0] - 1
    return self.index_select(0, fn.arange(last, -1, -1, device=self._device))


def __contains__(self: Tensor, value: Any) -> bool:
    """Whether an element equals a value."""
    if not hasattr(value, "_keys") and python_number(value) is None:
        raise RuntimeError(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(value)}."
        )
    return bool((self == value).any())


def __format__(self: Tensor, spec: str) -> str:
    """The text of a number for 0 dimensions, else as any object's."""
    if not self._shape and not self.is_meta:
        return format(self.item(), spec)
    return object.__format__(self, spec)


def _empty_lists(shape: Shape) -> list[Any]:
    return [_empty_lists(shape[1:]) for _ in range(shape[0])] if shape else []


attach(
    __name__,
    {
        "__bool__": __bool__,
        "__complex__": __complex__,
        "__contains__": __contains__,
        "__float__": __float__,
        "__format__": __format__,
        "__index__": __index__,
        "__int__": __int__,
        "__iter__": __iter__,
        "__len__": __len__,
        "__reversed__": __reversed__,
        "_host": _host,
        "item": item,
        "tolist": tolist,
    },
)
