"""What programs say of tensors to PyTorch's compiler. Nothing here is compiled for sizes: it is checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensors.tensor import Tensor

__all__ = [
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "require_callable",
]


def require_callable(fn: Any, name: str) -> None:
    """Refuse what is none of PyTorch's callables.

    Raises:
        AssertionError: for that, and for a list or tuple that has it.
    """
    for each in fn if isinstance(fn, list | tuple) else [fn]:
        if not callable(each):
            raise AssertionError(f"{name} expects a callable, got {type(each).__name__}")


def mark_dynamic(
    t: Any,
    index: int | list[Any] | tuple[Any, ...],
    *,
    hint_override: int | None = None,
    min: int | None = None,
    max: int | None = None,
    specialize_on: list[Callable[..., Any]] | None = None,
) -> None:
    """Do nothing but check: nothing is compiled for sizes.

    Args:
        t: a tensor or a module.
        index: of a dimension, or several.
        hint_override: accepted, as the others.
        min: accepted.
        max: accepted.
        specialize_on: accepted.

    Raises:
        AttributeError: for something else.
        AssertionError: for an index of another type.
    """
    if not (isinstance(t, Tensor) or hasattr(t, "__compiled__")):  # a module has that
        raise AttributeError(f"{type(t).__name__!r} object has no dimensions that could be dynamic")
    _check_index(index)


def maybe_mark_dynamic(t: Any, index: int | list[Any] | tuple[Any, ...]) -> None:
    """The same as `mark_dynamic`."""
    mark_dynamic(t, index)


def mark_static(t: Any, index: int | list[Any] | tuple[Any, ...] | None = None) -> Any:
    """Do nothing but check; a class of modules is given back.

    Raises:
        TypeError: for what is neither a tensor nor a class of modules.
        AssertionError: for an index of another type.
    """
    if isinstance(t, type) and hasattr(t, "__compiled__"):
        return t
    if not isinstance(t, Tensor):
        raise TypeError(
            f"mark_static expects a tensor/nn.Module class but received {type(t).__name__}"
        )
    if index is not None:
        _check_index(index)
    return None


def mark_static_address(t: Any, guard: bool = False) -> None:
    """Do nothing but check: there are no graphs that remember addresses.

    Raises:
        TypeError: for what is no tensor.
    """
    if not isinstance(t, Tensor):
        raise TypeError(f"mark_static_address expects a tensor but received {type(t)}")


def _check_index(index: Any) -> None:
    if not isinstance(index, int | list | tuple):
        raise AssertionError(f"Expected index to be int, list, or tuple, got {type(index)}")
