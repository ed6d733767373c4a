"""Elements of tensors as NumPy computes with them: bfloat16, which it lacks, and halves as float32."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

import mindtorch_core as torch

from .runtime import Cells

__all__ = ["HALVES", "exact", "load", "store"]

HALVES: Final = (torch.float16, torch.bfloat16)


def exact(cells: Cells) -> Any:
    """Elements as they are; bfloat16, of which NumPy knows nothing, in float32."""
    view = cells.view()
    if cells.dtype is torch.bfloat16:
        return (view.astype(np.uint32) << 16).view(np.float32)
    return view


def load(cells: Cells) -> Any:
    """Elements to compute with; halves in float32."""
    values = exact(cells)
    return values.astype(np.float32) if cells.dtype is torch.float16 else values


def store(cells: Cells, values: Any) -> None:
    """Write elements, converted to the tensor's dtype."""
    with np.errstate(all="ignore"):
        values = np.asarray(values)
        if cells.dtype is torch.bfloat16:
            values = _rounded(values.astype(np.float32))
        np.copyto(cells.view(), values, casting="unsafe")


def _rounded(values: Any) -> Any:
    """The upper halves of float32 numbers, rounded to the nearest, ties to even."""
    bits = values.view(np.uint32)
    upper = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, upper).astype(np.uint16)
