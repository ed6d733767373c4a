"""Samples of further distributions, from the same stream and by the same formulas as PyTorch's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_core.backend import int64

from ..arrays import quietly, uninitialised, wrap
from ..fused import fused_double
from ..libm import exact
from ..register import kernel, rule_of
from ..twister import TwisterSource
from .random import fill, filled, stored, stream_of

__all__ = ["multinomial"]


def _function(name: str, d: Any) -> Callable[[Any], Any]:
    """A function of float64 numbers, to the last bit where the result is not rounded further."""
    if d == np.float64:
        return exact(name)
    ufunc: Callable[[Any], Any] = getattr(np, name)
    return ufunc


@kernel("exponential_")
def exponential_(self: Any, lambd: float = 1, *, generator: Any = None) -> Any:
    """Exponential numbers."""
    rule_of("exponential")(self, lambd)
    return filled(self, generator, _exponential(self.raw_data.dtype, lambd))


def _exponential(d: Any, lambd: float) -> Callable[[TwisterSource, Any], Any]:
    """Draws exponential numbers for an array."""
    log1p, scale = _function("log1p", d), -1 / lambd
    return lambda source, part: log1p(-source.doubles(part.size)) * scale


@kernel("cauchy_")
def cauchy_(self: Any, median: float = 0, sigma: float = 1, *, generator: Any = None) -> Any:
    """Cauchy numbers."""
    rule_of("cauchy")(self, median, sigma)
    tan = _function("tan", self.raw_data.dtype)

    def draw(source: TwisterSource, part: Any) -> Any:
        return fused_double(tan((source.doubles(part.size) - 0.5) * math.pi), sigma, median)

    return filled(self, generator, draw)


@kernel("log_normal_")
def log_normal_(self: Any, mean: float = 1, std: float = 2, *, generator: Any = None) -> Any:
    """Exponentials of normal numbers."""
    rule_of("log_normal")(self, mean, std)
    exp = _function("exp", self.raw_data.dtype)
    return filled(
        self,
        generator,
        lambda source, part: exp(fused_double(source.normals(part.size), std, mean)),
    )


@kernel("geometric_")
def geometric_(self: Any, p: float, *, generator: Any = None) -> Any:
    """Numbers of trials."""
    rule_of("geometric")(self, p)
    log, each = _function("log", self.raw_data.dtype), math.log1p(-p)
    return filled(
        self, generator, lambda source, part: np.ceil(log(source.doubles(part.size)) / each)
    )


# ---- choices ------------------------------------------------------------------------------------


@kernel("multinomial")
def multinomial(
    self: Any, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Any:
    """Indices drawn with weights.

    Raises:
        RuntimeError: if a row holds no weights of a lottery.
    """
    spec = rule_of("multinomial")(self, num_samples, replacement)
    weights = self.raw_data
    if 0 in spec.shape:
        return wrap(np.empty(spec.shape, np.int64), int64)
    if not quietly(lambda: np.all((weights >= 0) & (weights < np.inf))):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not np.all((weights > 0).any(-1)):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    source = stream_of(generator)
    if replacement and num_samples > 1:
        rows = weights.reshape(-1, weights.shape[-1])
        drawn = quietly(_with_replacement, rows, num_samples, source)
    else:
        drawn = quietly(_race, weights, num_samples, source)
    return wrap(drawn.reshape(spec.shape), int64)


def _with_replacement(rows: Any, count: int, source: TwisterSource) -> Any:
    """For each uniform number, the first place where the running share of the weights reaches it."""
    shares: Any = np.cumsum(rows, -1, dtype=np.float64 if rows.dtype == np.float64 else np.float32)
    shares = shares / shares[:, -1:]
    shares[:, -1] = 1
    drawn = np.empty((len(rows), count))
    fill(drawn, source, lambda source, part: source.doubles(part.size))
    out = np.empty(drawn.shape, np.int64)
    for i, row in enumerate(shares.astype(np.float64)):
        out[i] = row.searchsorted(drawn[i])
    return out


def _race(weights: Any, count: int, source: TwisterSource) -> Any:
    """The first arrivals of a race whose waiting times have the weights as rates."""
    line = uninitialised(weights.shape, weights.dtype)
    if not weights.flags.c_contiguous and weights.ndim == 2:
        line = uninitialised(weights.shape[::-1], weights.dtype).T
    fill(line, source, _exponential(line.dtype, 1))
    speed = (weights / line).astype(np.float64 if line.dtype == np.float64 else np.float32)
    if count == 1:
        return np.argmax(speed, -1)
    speed = -speed
    if count < speed.shape[-1]:
        first = np.argpartition(speed, count - 1, -1)[..., :count]
    else:
        first = np.broadcast_to(np.arange(count), speed.shape)
    order = np.argsort(np.take_along_axis(speed, first, -1), -1, kind="stable")
    return np.take_along_axis(first, order, -1)


@kernel("_rrelu_slopes")
def rrelu_slopes(self: Any, lower: float, upper: float, generator: Any = None) -> Any:
    """Slopes are drawn for the elements that need one."""
    data = self.raw_data
    kind = np.float64 if data.itemsize == 8 else np.float32
    slopes = np.ones(data.shape, data.dtype)
    falling = quietly(np.less_equal, data, 0)
    drawn = np.empty(np.count_nonzero(falling))
    low, high = float(kind(lower)), float(kind(upper))

    def draw(source: TwisterSource, part: Any) -> Any:
        return source.doubles(part.size) * (high - low) + low

    fill(drawn, stream_of(generator), draw)
    if drawn.size:
        made = np.empty(drawn.shape, data.dtype)
        stored(made, drawn)
        slopes[falling] = made
    return wrap(slopes, self.raw_dtype)
