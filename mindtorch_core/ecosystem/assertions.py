"""Checks that raise errors of a kind: ``torch._check`` and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dispatch.written_functions import overridable
from ..frontend.creation import as_tensor
from ..tensors.tensor import Tensor
from ..values.dtypes import int64

__all__ = [
    "_assert",
    "_assert_async",
    "_check",
    "_check_index",
    "_check_is_size",
    "_check_not_implemented",
    "_check_tensor_all",
    "_check_tensor_all_with",
    "_check_type",
    "_check_value",
    "_check_with",
    "_shape_as_tensor",
]

_Message = Callable[[], Any] | None


@overridable
def _assert(condition: Any, message: str) -> None:
    """Raise AssertionError with a message unless a condition holds."""
    if not condition:
        raise AssertionError(message)


def _assert_async(
    input: Tensor, assert_msg: str = "Expected Tensor with single nonzero value"
) -> None:
    """Raise RuntimeError with a message if a tensor of one element is 0."""
    if not bool(input):
        raise RuntimeError(assert_msg)


def _shape_as_tensor(self: Tensor) -> Tensor:
    """The sizes of a tensor, as one of integers."""
    return as_tensor(list(self.shape), dtype=int64)


def _check_with(error_type: type[Exception], cond: Any, message: _Message = None) -> None:
    """Raise an error of a type unless a condition holds.

    Args:
        error_type: a class of exceptions.
        cond: a bool.
        message: called for the text.

    Raises:
        TypeError: if the condition is no bool, or the message cannot be called.
    """
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        raise error_type("Expected cond to be True, but got False")
    if not callable(message):
        raise TypeError("message must be a callable")
    raise error_type(str(message()))


def _check(cond: Any, message: _Message = None) -> None:
    """Raise RuntimeError unless a condition holds."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: _Message = None) -> None:
    """Raise IndexError unless a condition holds."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: _Message = None) -> None:
    """Raise ValueError unless a condition holds."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: _Message = None) -> None:
    """Raise TypeError unless a condition holds."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: _Message = None) -> None:
    """Raise NotImplementedError unless a condition holds."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: int, message: _Message = None, *, max: int | None = None) -> None:
    """Raise RuntimeError unless a number can be a size."""
    _check(bool(i >= 0 and (max is None or i <= max)), message)


def _check_tensor_all_with(
    error_type: type[Exception], cond: Any, message: _Message = None
) -> None:
    """Raise an error of a type unless all elements of a tensor of booleans are True.

    Raises:
        TypeError: if it is no such tensor.
    """
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if str(cond.dtype) != "torch.bool":
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond.all().item()), message)


def _check_tensor_all(cond: Any, message: _Message = None) -> None:
    """Raise RuntimeError unless all elements of a tensor of booleans are True."""
    _check_tensor_all_with(RuntimeError, cond, message)
