"""Samples of further distributions, from NumPy's generator."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_core.dtypes import dtype, int64

from ..arrays import in_common_order, quietly, wrap
from ..register import kernel, rule_of
from .random import rng_of

__all__ = ["binomial", "multinomial", "poisson"]

# NumPy's Poisson numbers are int64; above this rate a normal number is as good, and fits.
_LARGEST_RATE = 1e18


def _filled(self: Any, draw: Callable[[Any], Any]) -> Any:
    """Draw in the dtype's precision, float32 at least, and write the result."""
    data = self._data
    kind = np.float64 if data.dtype.kind in "iu" or data.dtype == np.float64 else np.float32
    quietly(np.copyto, data, quietly(draw, kind), "unsafe")
    return self


@kernel("exponential_")
def exponential_(self: Any, lambd: float = 1, *, generator: Any = None) -> Any:
    """Exponential numbers."""
    rule_of("exponential")(self, lambd)
    rng = rng_of(generator)
    return _filled(
        self, lambda kind: rng.standard_exponential(self._data.shape, kind) / kind(lambd)
    )


@kernel("cauchy_")
def cauchy_(self: Any, median: float = 0, sigma: float = 1, *, generator: Any = None) -> Any:
    """Cauchy numbers."""
    rule_of("cauchy")(self, median, sigma)
    rng = rng_of(generator)
    return _filled(self, lambda kind: rng.standard_cauchy(self._data.shape) * sigma + median)


@kernel("log_normal_")
def log_normal_(self: Any, mean: float = 1, std: float = 2, *, generator: Any = None) -> Any:
    """Exponentials of normal numbers."""
    rule_of("log_normal")(self, mean, std)
    rng = rng_of(generator)
    return _filled(self, lambda kind: np.exp(rng.normal(mean, std, self._data.shape)))


@kernel("geometric_")
def geometric_(self: Any, p: float, *, generator: Any = None) -> Any:
    """Numbers of trials."""
    rule_of("geometric")(self, p)
    rng = rng_of(generator)
    shape = self._data.shape

    def draw(kind: Any) -> Any:
        u = rng.random(shape)
        return np.floor(np.log1p(-u) / math.log1p(-p)) + 1

    return _filled(self, draw)


@kernel("multinomial")
def multinomial(
    self: Any, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Any:
    """Indices drawn with weights.

    Raises:
        RuntimeError: if a row holds no weights of a lottery.
    """
    spec = rule_of("multinomial")(self, num_samples, replacement)
    weights = self._data.astype(np.float64)
    if 0 in spec.shape:
        return wrap(np.empty(spec.shape, np.int64), int64)
    if not quietly(lambda: np.all((weights >= 0) & (weights < np.inf))):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not np.all(weights.sum(-1) > 0):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    rng = rng_of(generator)
    rows = weights.reshape(-1, weights.shape[-1])
    draw = _with_replacement if replacement else _without_replacement
    drawn = draw(rows, num_samples, rng)
    return wrap(drawn.reshape(spec.shape), int64)


def _with_replacement(rows: Any, count: int, rng: Any) -> Any:
    """For each number drawn below a row's sum, the place where the running sum passes it."""
    sums = np.cumsum(rows, -1)
    drawn = rng.random((len(rows), count)) * sums[:, -1:]
    out = np.empty(drawn.shape, np.int64)
    for i, row in enumerate(sums):
        last = np.flatnonzero(rows[i])[-1]  # rounding may reach the sum itself
        out[i] = np.minimum(row.searchsorted(drawn[i], "right"), last)
    return out


def _without_replacement(rows: Any, count: int, rng: Any) -> Any:
    """The first arrivals of a race whose waiting times have the weights as rates."""
    waiting = quietly(np.divide, rng.standard_exponential(rows.shape), rows)
    if count < rows.shape[-1]:
        first = np.argpartition(waiting, count - 1, -1)[:, :count]
    else:
        first = np.broadcast_to(np.arange(count), rows.shape)
    order = np.argsort(np.take_along_axis(waiting, first, -1), -1, kind="stable")
    return np.take_along_axis(first, order, -1)


@kernel("poisson")
def poisson(self: Any, generator: Any = None) -> Any:
    """Poisson numbers.

    Raises:
        RuntimeError: if a rate is negative or no number.
    """
    rule_of("poisson")(self)
    rates = self._data.astype(np.float64)
    if not quietly(lambda: np.all(rates >= 0)):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    rng = rng_of(generator)
    large = rates > _LARGEST_RATE
    drawn = np.asarray(rng.poisson(np.where(large, 0, rates)), np.float64)
    if large.any():
        spread = quietly(np.sqrt, np.where(np.isinf(rates), 0, rates))
        drawn = np.where(large, rng.normal(rates, spread), drawn)
    return _like_input(drawn, self._dtype, self._data)


@kernel("binomial")
def binomial(count: Any, prob: Any, generator: Any = None) -> Any:
    """Numbers of successes; NaN where there is no such number of trials."""
    rule_of("binomial")(count, prob)
    n, p = count._data.astype(np.float64), np.clip(prob._data.astype(np.float64), 0, 1)
    invalid = np.isnan(n) | np.isnan(p)
    trials = np.clip(np.nan_to_num(np.floor(n)), 0, 2**62).astype(np.int64)
    drawn = np.asarray(rng_of(generator).binomial(trials, np.nan_to_num(p)), np.float64)
    drawn = np.where(invalid, np.nan, drawn)
    return _like_input(drawn, count._dtype, count._data, prob._data)


def _like_input(drawn: Any, d: dtype, *operands: Any) -> Any:
    """Numbers in the dtype of a kernel's operands, in their order of dimensions."""
    data = quietly(np.asarray(drawn).astype, operands[0].dtype)
    return wrap(in_common_order(data, *operands), d)
