"""Functions of what a tensor is: ``torch.is_complex(x)``."""

from __future__ import annotations

from typing import Any

from ..dispatch.asked_wrongly import guarded
from ..tensors.tensor import Tensor
from ..tensors.type_names import type_name
from .pickling import is_storage as known

__all__ = [
    "get_device",
    "is_complex",
    "is_floating_point",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_storage",
    "is_tensor",
    "numel",
    "typename",
]


@guarded
def is_floating_point(input: Tensor) -> bool:
    """Whether a tensor's dtype is a floating-point one.

    Args:
        input: a tensor.

    Raises:
        TypeError: if it is no tensor.

    Example:
        >>> torch.is_floating_point(torch.ones(1)), torch.is_floating_point(torch.tensor(1))
        (True, False)
    """
    return input.is_floating_point()


@guarded
def is_complex(input: Tensor) -> bool:
    """Whether a tensor's dtype is a complex one.

    Args:
        input: a tensor.

    Raises:
        TypeError: if it is no tensor.

    Example:
        >>> torch.is_complex(torch.tensor(1j))
        True
    """
    return input.is_complex()


@guarded
def is_signed(input: Tensor) -> bool:
    """Whether a tensor's dtype holds negative numbers.

    Raises:
        TypeError: if it is no tensor.
    """
    return input.is_signed()


@guarded
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element of a tensor differs from zero.

    Raises:
        RuntimeError: if it has no element, or several.
        TypeError: if it is no tensor.
    """
    return input.is_nonzero()


@guarded
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape.

    Raises:
        TypeError: if one is no tensor.
    """
    if not isinstance(other, Tensor):
        kind = type(other).__name__
        raise TypeError(f"is_same_size(): argument 'other' (position 2) must be Tensor, not {kind}")
    return input.is_same_size(other)


@guarded
def get_device(input: Tensor) -> int:
    """Index of a tensor's device; -1 for a device without index.

    Raises:
        TypeError: if it is no tensor.
    """
    return input.get_device()


def is_storage(obj: Any) -> bool:
    """Whether an object is a tensor's storage, of bytes or typed."""
    return known(obj)


def typename(obj: Any) -> str:
    """Name of an object's type with its module; for a tensor such as ``torch.FloatTensor``."""
    if isinstance(obj, Tensor):
        return type_name(obj)
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(kind, "__module__", None)
    name = str(kind.__qualname__)
    return name if module in (None, "builtins") else f"{module}.{name}"


@guarded
def numel(input: Tensor) -> int:
    """Number of elements.

    Args:
        input: a tensor.

    Raises:
        TypeError: if it is no tensor.

    Example:
        >>> torch.numel(torch.zeros(2, 3))
        6
    """
    return input.numel()


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a tensor.

    Args:
        obj: anything.

    Example:
        >>> torch.is_tensor(torch.ones(1)), torch.is_tensor([1.0])
        (True, False)
    """
    return isinstance(obj, Tensor)
