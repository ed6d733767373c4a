"""Meta tensors from specs."""

from __future__ import annotations

from typing import Final

from mindtorch_core.backend import Tensor, TensorSpec, fresh
from mindtorch_core.dispatch.keys import DEFAULT_INCLUDED, DispatchKey

from .runtime import META

__all__ = ["made"]

_KEYS: Final = int(DispatchKey.Meta | DEFAULT_INCLUDED)


def made(spec: TensorSpec) -> Tensor:
    """A tensor of a spec's shape, dtype and strides, without data."""
    r = fresh()
    r.raw_data = None
    r.raw_shape = spec.shape
    r.raw_layout = None if spec.strides is None else (spec.strides, 0)
    r.raw_dtype = spec.dtype
    r.raw_device = META
    r.raw_keys = _KEYS
    r.raw_storage = None
    r.raw_base = None
    r.raw_autograd = None
    return r
