"""Functions of PyTorch's own by which pickles of tensors' subclasses come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensors.subclasses import instance
from ..tensors.tensor import Tensor

__all__ = ["Tensor"]


def _rebuild_from_type_v2(
    func: Callable[..., Any], new_type: type, args: tuple[Any, ...], state: Any
) -> Any:
    """What a function makes, as an object of a class, with its state."""
    made = func(*args)
    if type(made) is not new_type:
        made = instance(made, new_type)
    if isinstance(state, tuple):  # attributes, and those in slots
        state = {k: v for part in state if part for k, v in part.items()}
    for name, value in (state or {}).items():
        setattr(made, name, value)
    return made
