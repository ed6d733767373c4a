"""Factories and random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_core.dtypes import FLOATING, get_default_dtype, int64
from mindtorch_core.operators.factory import checked_size
from mindtorch_core.random import source_for

from .arrays import CPU, NUMPY_OF, exact, quietly, wrap
from .register import kernel, rule_of

__all__ = ["arange", "full", "normal_", "ones", "random_", "randperm", "uniform_", "zeros"]


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


@kernel("uniform_")
def uniform_(self: Any, low: float = 0, high: float = 1, *, generator: Any = None) -> Any:
    """Uniform numbers from [low, high)."""
    rule_of("uniform")(self, low, high)
    rng = source_for(generator, CPU).rng
    data = self._data
    kind = np.float64 if data.dtype == np.float64 else np.float32
    drawn = rng.random(data.shape, kind)
    if low != 0 or high != 1:
        drawn = drawn * kind(high - low) + kind(low)
    np.copyto(data, drawn, casting="unsafe")
    return self


@kernel("normal_")
def normal_(self: Any, mean: float = 0, std: float = 1, *, generator: Any = None) -> Any:
    """Normal numbers."""
    rule_of("normal")(self, mean, std)
    rng = source_for(generator, CPU).rng
    data = self._data
    kind = np.float64 if data.dtype == np.float64 else np.float32
    drawn = rng.standard_normal(data.shape, kind)
    if mean != 0 or std != 1:
        drawn = drawn * kind(std) + kind(mean)
    np.copyto(data, drawn, casting="unsafe")
    return self


@kernel("random_")
def random_(self: Any, low: int = 0, high: int | None = None, *, generator: Any = None) -> Any:
    """Integers from [low, high); by default all that the dtype holds exactly."""
    rule_of("random")(self, low, high)
    d = self._dtype
    if high is None:
        if d.category >= FLOATING:
            digits = {"float16": 11, "bfloat16": 8, "float32": 24}.get(d.name, 53)
            high = (1 << digits) + 1
        else:
            high = 2 if d.category == 0 else 1 << (d.itemsize * 8 - d.is_signed)
    rng = source_for(generator, CPU).rng
    kind = np.uint64 if d.name == "uint64" else np.int64
    drawn = rng.integers(low, high - 1, self._data.shape, kind, endpoint=True)
    np.copyto(self._data, drawn, casting="unsafe")
    return self


@kernel("bernoulli_p_")
def bernoulli_p_(self: Any, p: float = 0.5, *, generator: Any = None) -> Any:
    """Ones with probability p."""
    rule_of("bernoulli_p")(self, p)
    rng = source_for(generator, CPU).rng
    np.copyto(self._data, rng.random(self._data.shape) < p, casting="unsafe")
    return self


@kernel("randperm")
def randperm(n: int, *, generator: Any = None, dtype: Any = None, device: Any = None) -> Any:
    """A random order of 0 to n - 1."""
    rule_of("randperm")(n)
    d = dtype or int64
    drawn = source_for(generator, CPU).rng.permutation(n)
    return wrap(quietly(drawn.astype, NUMPY_OF[d]), d)


@kernel("full")
def full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """One value everywhere."""
    if hasattr(fill_value, "_keys"):
        fill_value = fill_value.item()
    spec = rule_of("full")(size, fill_value, dtype=dtype)
    d = spec.dtype
    return wrap(np.full(spec.shape, exact(fill_value, d)), d)
