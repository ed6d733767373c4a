"""Tensors around the payloads that executables may give."""

from __future__ import annotations

from typing import Any

from ...tensors.tensor import Tensor, make_tensor
from ...values.devices import TABLE, device
from ...values.dtypes import dtype
from ...values.shapes import Shape

__all__ = ["as_tensor", "fitting"]


def as_tensor(result: Any, shape: Shape, d: dtype, on: device, layout: Any) -> Tensor:
    """What an executable gave for an output: a tensor, or one around the payload that it gave."""
    if isinstance(result, Tensor):
        return result
    return make_tensor(result, shape, d, on, TABLE[on.type].runtime.key, None, layout)


def fitting(result: Any, shape: Shape, d: dtype, on: device, layout: Any) -> Any:
    """The same, but what is neither a tensor nor a payload of such a one as it is, to be refused."""
    made = as_tensor(result, shape, d, on, layout)
    return made if made is result or TABLE[on.type].runtime.fits(made) else result
