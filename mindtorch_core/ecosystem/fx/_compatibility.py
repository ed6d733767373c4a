"""What libraries mark their functions with; it changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["compatibility"]

_T = TypeVar("_T")


def compatibility(is_backward_compatible: bool) -> Callable[[_T], _T]:
    """Decorator: the function itself."""
    return lambda fn: fn
