"""Meta tensors from specs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mindtorch_core.dispatch.keys import DEFAULT_INCLUDED, DispatchKey
from mindtorch_core.operators.define import TensorSpec
from mindtorch_core.tensor import Tensor

from .runtime import META

__all__ = ["made"]

_KEYS: Final = int(DispatchKey.Meta | DEFAULT_INCLUDED)
_new: Callable[[type[Tensor]], Tensor] = object.__new__


def made(spec: TensorSpec) -> Tensor:
    """A tensor of a spec's shape, dtype and strides, without data."""
    r = _new(Tensor)
    r._data = None
    r._shape = spec.shape
    r._layout = None if spec.strides is None else (spec.strides, 0)
    r._dtype = spec.dtype
    r._device = META
    r._keys = _KEYS
    r._storage = None
    r._base = None
    r._autograd = None
    return r
