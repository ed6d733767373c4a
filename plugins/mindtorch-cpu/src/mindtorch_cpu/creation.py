"""Factories."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_core.backend import FLOAT8, FLOATING, checked_size, float32, get_default_dtype, int64

from .arrays import COUNTABLE, NUMPY_OF, exact, quietly, uninitialised, wrap
from .register import composition_of, kernel, rule_of

__all__ = ["arange", "eye", "full", "linspace", "ones", "zeros"]


@kernel("zeros")
def zeros(size: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros; the system supplies large blocks already cleared."""
    d = dtype or get_default_dtype()
    return wrap(uninitialised(checked_size(size), NUMPY_OF[d], np.zeros), d)


@kernel("ones")
def ones(size: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Ones."""
    d = dtype or get_default_dtype()
    data = uninitialised(checked_size(size), NUMPY_OF[d])
    data.fill(exact(1, d) if data.dtype.names else 1)
    return wrap(data, d)


@kernel("arange.start")
def arange(start: Any, end: Any, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Any:
    """Numbers a step apart."""
    start, end, step = (v.item() if hasattr(v, "raw_keys") else v for v in (start, end, step))
    spec = rule_of("arange.start")(start, end, step, dtype=dtype)
    (n,), d = spec.shape, spec.dtype
    if d.name in FLOAT8:
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{d.label}'")
    if n >= COUNTABLE:
        uninitialised((n,), NUMPY_OF[d])
    if d is int64 and start == 0 and step == 1:
        return wrap(np.arange(n, dtype=np.int64), d)
    if d.category < FLOATING or all(isinstance(v, int) for v in (start, step)):
        return wrap((np.arange(n, dtype=np.int64) * int(step) + int(start)).astype(NUMPY_OF[d]), d)
    return wrap((np.arange(n) * step + start).astype(NUMPY_OF[d]), d)


@kernel("full")
def full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """One value everywhere."""
    if hasattr(fill_value, "raw_keys"):
        fill_value = fill_value.item()
    spec = rule_of("full")(size, fill_value, dtype=dtype)
    d = spec.dtype
    data = uninitialised(spec.shape, NUMPY_OF[d])
    data[...] = exact(fill_value, d)
    return wrap(data, d)


@kernel("eye")
def eye(n: int, m: Any = None, *, dtype: Any = None, device: Any = None) -> Any:
    """Ones on the diagonal."""
    spec = rule_of("eye")(n, m, dtype=dtype)
    data = uninitialised(spec.shape, NUMPY_OF[spec.dtype], np.zeros)
    rows, columns = spec.shape
    data.reshape(-1)[: min(rows, columns) * columns : columns + 1] = exact(1, spec.dtype)
    return wrap(data, spec.dtype)


@kernel("linspace")
def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None) -> Any:
    """Numbers evenly from one end to the other; those of float32 here."""
    spec = rule_of("linspace")(start, end, steps, dtype=dtype)
    if spec.dtype is not float32 or not 2 <= steps < COUNTABLE:
        return composition_of("linspace")(start, end, steps, dtype=dtype, device=device)
    first, last = (exact(+v, float32) for v in (start, end))
    return wrap(quietly(_line, first, last, steps), float32)


def _line(first: Any, last: Any, steps: int) -> Any:
    """Ends and step are float32 numbers, and the sum of an end and the way from it is rounded once."""
    at = np.arange(steps, dtype=np.float64)
    at *= (last - first) / np.float32(steps - 1)
    half = steps // 2
    line = np.empty(steps, np.float32)
    np.add(at[:half], first, line[:half])
    np.subtract(last, at[steps - 1 - half :: -1], line[half:])
    return line
