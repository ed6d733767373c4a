"""Random numbers: tensors filled from NumPy's generator."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_core.dtypes import exact_integers, int64
from mindtorch_core.random import source_for

from ..arrays import CPU, NUMPY_OF, WIDER, in_common_order, quietly, wrap
from ..register import kernel, rule_of

__all__ = ["bernoulli", "bernoulli_p_", "normal_", "random_", "randperm", "rng_of", "uniform_"]


def rng_of(generator: Any) -> Any:
    """The NumPy generator that a kernel draws from."""
    return source_for(generator, CPU).rng


def real_parts(data: Any) -> Any:
    """A real array, or the real and imaginary parts of a complex one, that are to be written."""
    return (data.real, data.imag) if data.dtype.kind == "c" else (data,)


@kernel("uniform_")
def uniform_(self: Any, low: float = 0, high: float = 1, *, generator: Any = None) -> Any:
    """Uniform numbers from [low, high)."""
    rule_of("uniform")(self, low, high)
    rng = rng_of(generator)
    for part in real_parts(self._data):
        _fill_uniform(part, low, high, rng, self._dtype)
    return self


def _fill_uniform(part: Any, low: float, high: float, rng: Any, d: Any) -> None:
    kind = part.dtype.type if part.dtype in (np.float32, np.float64) else np.float32
    drawn = rng.random(part.shape, kind)
    if d in WIDER:  # as many digits as the dtype has: rounding would give 1
        steps = kind(exact_integers(d))
        drawn = np.floor(drawn * steps) / steps
    if low != 0 or high != 1:
        drawn = drawn * kind(high - low) + kind(low)
        if low < high:
            drawn = drawn.astype(part.dtype)
            last = np.nextafter(part.dtype.type(high), part.dtype.type(low))
            drawn = np.minimum(drawn, last)  # a product may be rounded up to `high`
    quietly(np.copyto, part, drawn, "unsafe")


@kernel("normal_")
def normal_(self: Any, mean: float = 0, std: float = 1, *, generator: Any = None) -> Any:
    """Normal numbers; the variance of complex ones is that of both parts together."""
    rule_of("normal")(self, mean, std)
    rng = rng_of(generator)
    data = self._data
    parts = real_parts(data)
    spread = std * 0.5**0.5 if len(parts) == 2 else std
    for i, part in enumerate(parts):
        kind = part.dtype.type if part.dtype in (np.float32, np.float64) else np.float32
        drawn = rng.standard_normal(part.shape, kind)
        if mean != 0 or spread != 1:
            drawn = drawn * kind(spread) + kind(0 if i else mean)
        quietly(np.copyto, part, drawn, "unsafe")
    return self


# Ranges wider than this are drawn from the whole numbers of 64 bits.
_WIDEST = 1 << 63


@kernel("random_.from")
def random_(self: Any, low: int, high: int | None, *, generator: Any = None) -> Any:
    """Integers from [low, high); up to the largest that the dtype holds exactly without ``high``."""
    rule_of("random.from")(self, low, high)
    d = self._dtype
    last = exact_integers(d) if high is None else high - 1
    kind = np.uint64 if last >= _WIDEST else np.int64
    drawn = rng_of(generator).integers(low, last, self._data.shape, kind, endpoint=True)
    np.copyto(self._data, drawn, casting="unsafe")
    return self


@kernel("bernoulli_p_")
def bernoulli_p_(self: Any, p: float = 0.5, *, generator: Any = None) -> Any:
    """Ones with probability p."""
    rule_of("bernoulli_p")(self, p)
    drawn = rng_of(generator).random(self._data.shape) < p
    np.copyto(self._data, drawn, casting="unsafe")
    return self


@kernel("bernoulli")
def bernoulli(self: Any, *, generator: Any = None) -> Any:
    """Ones with the probabilities that the input gives.

    Raises:
        RuntimeError: if an element is no probability.
    """
    rule_of("bernoulli")(self)
    p = self._data
    if not quietly(lambda: np.all((p >= 0) & (p <= 1))):
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false: bernoulli takes probabilities"
        )
    drawn = rng_of(generator).random(p.shape)
    ones = np.asarray(np.less(drawn, p.astype(np.float64))).astype(p.dtype)
    return wrap(in_common_order(ones, p), self._dtype)


@kernel("randperm")
def randperm(n: int, *, generator: Any = None, dtype: Any = None, device: Any = None) -> Any:
    """A random order of 0 to n - 1."""
    rule_of("randperm")(n, dtype=dtype)
    d = dtype or int64
    return wrap(quietly(rng_of(generator).permutation(n).astype, NUMPY_OF[d]), d)
