"""``torch._prims_common``: what libraries ask about tensors there."""

from __future__ import annotations

from ..tensors.tensor import Tensor
from ..values.layouts import strided
from ..values.memory_formats import contiguous_format, memory_format, suggested
from .absent import names_of

__all__ = ["suggest_memory_format"]

__getattr__ = names_of(__name__)


def suggest_memory_format(x: Tensor) -> memory_format:
    """The order in which a tensor's elements are taken to lie: channels last, or rows."""
    return suggested(x.shape, x.stride()) if x.layout is strided else contiguous_format
