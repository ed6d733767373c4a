"""Factories."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_core.dtypes import FLOATING, get_default_dtype
from mindtorch_core.operators.creation.factory import checked_size

from .arrays import NUMPY_OF, exact, wrap
from .register import kernel, rule_of

__all__ = ["arange", "full", "ones", "zeros"]


@kernel("zeros")
def zeros(size: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros; the system supplies large blocks already cleared."""
    d = dtype or get_default_dtype()
    return wrap(np.zeros(checked_size(size), NUMPY_OF[d]), d)


@kernel("ones")
def ones(size: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Ones."""
    d = dtype or get_default_dtype()
    data = np.empty(checked_size(size), NUMPY_OF[d])
    data.fill(1)
    return wrap(data, d)


@kernel("arange.start")
def arange(start: Any, end: Any, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Any:
    """Numbers a step apart."""
    spec = rule_of("arange.start")(start, end, step, dtype=dtype)
    (n,), d = spec.shape, spec.dtype
    if d.category < FLOATING or all(isinstance(v, int) for v in (start, step)):
        return wrap((np.arange(n, dtype=np.int64) * int(step) + int(start)).astype(NUMPY_OF[d]), d)
    return wrap((np.arange(n) * step + start).astype(NUMPY_OF[d]), d)


@kernel("full")
def full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """One value everywhere."""
    if hasattr(fill_value, "_keys"):
        fill_value = fill_value.item()
    spec = rule_of("full")(size, fill_value, dtype=dtype)
    d = spec.dtype
    return wrap(np.full(spec.shape, exact(fill_value, d)), d)
