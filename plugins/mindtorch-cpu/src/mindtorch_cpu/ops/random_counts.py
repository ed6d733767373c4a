"""Numbers that take as many draws as they need, one element after the other: counts and gamma numbers.

How far an element goes decides where the next one begins, so these are loops, on Python numbers, whose
functions are the C library's. Many numbers of the same parameters need none: see `repeated_draws`.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import dtype

from ..arrays import NUMPY_OF, quietly, wrap
from ..libm import exact
from ..register import kernel, rule_of
from ..twister import TwisterSource
from .random import stored, stream_of
from .repeated_draws import FEW, by_rejection, by_sums

__all__ = ["binomial", "poisson"]

Next = Callable[[], float]

_BLOCK: Final = 1 << 12


@contextmanager
def uniform_numbers(source: TwisterSource, expected: int) -> Iterator[Next]:
    """What gives the next uniform number of [0, 1).

    Numbers come from blocks; at the end the stream goes back to the first one that nobody took.

    Args:
        source: the stream, which is locked meanwhile.
        expected: about how many will be taken.
    """
    with source.lock:
        if expected < 1 << 6:
            yield source.double
            return
        block: Iterator[float] = iter(())
        start = source.bits_state()
        size = 0

        def blocks() -> Iterator[Iterator[float]]:
            nonlocal block, start, size
            while True:
                start, size = source.bits_state(), _BLOCK
                block = iter(source.doubles(_BLOCK).tolist())
                yield block

        try:
            yield chain.from_iterable(blocks()).__next__
        finally:
            source.go_back(start, 2 * (size - operator.length_hint(block)))


def _loop(source: TwisterSource, one: Callable[..., float], *parameters: Any) -> Any:
    """What ``one(next uniform number, *parameters)`` gives for each element, as float64."""
    columns = [p.reshape(-1).tolist() for p in parameters]
    with uniform_numbers(source, 4 * parameters[0].size) as uniform:
        values = [one(uniform, *row) for row in zip(*columns, strict=True)]
    return np.array(values, np.float64).reshape(parameters[0].shape)


def _rounded(values: Any, d: dtype) -> Any:
    """A tensor of a dtype."""
    made = np.empty(values.shape, NUMPY_OF[d])
    quietly(stored, made, values)
    return wrap(made, d)


# ---- Poisson numbers ----------------------------------------------------------------------------


class _Rejected:
    """Hoermann's transformed rejection for one rate (1993)."""

    def __init__(self, rate: float) -> None:
        self.rate, self.log_rate = rate, math.log(rate)
        self.b = 0.931 + 2.53 * math.sqrt(rate)
        self.a = -0.059 + 0.02483 * self.b
        self.log_scale = math.log(1.1239 + 1.1328 / (self.b - 3.4))
        self.accepted = 0.9277 - 3.6224 / (self.b - 2)

    def decides(self, edge: float, v: float, k: float) -> bool:
        """Whether a proposal that is not clear is accepted."""
        left = (math.log(v) if v else -math.inf) + self.log_scale
        left -= math.log(self.a / (edge * edge) + self.b)
        return left <= -self.rate + k * self.log_rate - math.lgamma(k + 1)

    def draw(self, uniform: Next) -> float:
        """One number."""
        while True:
            u, v = uniform() - 0.5, uniform()
            edge = 0.5 - abs(u)
            k = math.floor((2 * self.a / edge + self.b) * u + self.rate + 0.43) if edge else -1
            if edge >= 0.07 and v <= self.accepted:
                return k
            if k < 0 or (edge < 0.013 and v > edge):
                continue
            if self.decides(edge, v, k):
                return k

    def propose(self, u: Any, v: Any) -> tuple[Any, Any]:
        """Proposals, and which are accepted."""
        edge = 0.5 - np.abs(u)
        k = np.floor((2 * self.a / edge + self.b) * u + self.rate + 0.43)
        accepted = (edge >= 0.07) & (v <= self.accepted)
        unclear = ~(accepted | (k < 0) | ((edge < 0.013) & (v > edge)) | (edge == 0))
        return k, _decided(accepted, unclear, self.decides, edge, v, k)


def _decided(accepted: Any, unclear: Any, decides: Callable[..., bool], *given: Any) -> Any:
    """Which proposals are accepted when the unclear ones are looked at."""
    at = np.flatnonzero(unclear)
    for i, *row in zip(at.tolist(), *(a[at].tolist() for a in given), strict=True):
        accepted[i] = decides(*row)
    return accepted


_of_rate = functools.lru_cache(1024)(_Rejected)


def _factors(uniform: Next, limit: float) -> int:
    """How many factors a product has before it is small enough."""
    product, count = uniform(), 0
    while product > limit:
        product *= uniform()
        count += 1
    return count


def _poisson(uniform: Next, rate: float) -> float:
    if 0 < rate < 10:
        return _factors(uniform, math.exp(-rate))
    return _of_rate(rate).draw(uniform) if 0 < rate < math.inf else rate


def _poisson_of_one(source: TwisterSource, count: int, rate: float) -> Any:
    """Many numbers of one rate."""
    if rate >= 10:
        return by_rejection(source, count, _of_rate(rate).propose)
    limit = math.exp(-rate)
    return by_sums(
        source,
        count,
        lambda uniform: -np.log(np.maximum(uniform, 1e-300)),
        rate,
        lambda uniform: _factors(iter(uniform.tolist()).__next__, limit),
    )


@kernel("poisson")
def poisson(self: Any, generator: Any = None) -> Any:
    """Poisson numbers.

    Raises:
        RuntimeError: if a rate is negative or no number.
    """
    rule_of("poisson")(self)
    rates = self.raw_data.astype(np.float64)
    if not quietly(lambda: np.all(rates >= 0)):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    source = stream_of(generator)
    if rates.size > FEW and 0 < rates.flat[0] < math.inf and (rates == rates.flat[0]).all():
        with source.lock:
            drawn = quietly(_poisson_of_one, source, rates.size, float(rates.flat[0]))
        return _rounded(drawn.reshape(rates.shape), self.raw_dtype)
    return _rounded(_loop(source, _poisson, rates), self.raw_dtype)


# ---- binomial numbers ---------------------------------------------------------------------------

# What Stirling's formula for the logarithm of a factorial leaves, for 0 to 9.
_TAILS: Final = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
    0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
    0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def _tail(k: float) -> float:
    if k <= 9:
        return _TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)


def _waited(uniform: Next, count: float, log_fail: float) -> float:
    """Successes whose waiting times fit into the trials."""
    trials, found = 0.0, 0
    while True:
        u = uniform()
        trials += math.ceil(math.log(u) / log_fail) if u else math.inf
        if trials > count:
            return found
        found += 1


class _Squeezed:
    """Hoermann's transformed rejection with squeeze for one number of trials (1993)."""

    def __init__(self, trials: float, share: float, kind: Any) -> None:
        count, p = kind(trials), kind(share)
        mean, fails = count * p, kind(1) - p  # in the dtype of the tensors, as the next lines are
        spread, odds = float(np.sqrt(mean * fails)), float(p / fails)
        self.m = math.floor((count + kind(1)) * p)
        self.count = trials
        self.b = 1.15 + 2.53 * spread
        self.a = -0.0873 + 0.0248 * self.b + 0.01 * share
        self.centre = float(mean) + 0.5
        self.accepted = 0.92 - 4.2 / self.b
        self.odds = odds
        self.alpha = (2.83 + 5.1 / self.b) * spread

    def decides(self, edge: float, v: float, k: float) -> bool:
        """Whether a proposal that is not clear is accepted."""
        count, m, odds = self.count, self.m, self.odds
        v *= self.alpha / (self.a / (edge * edge) + self.b)
        bound = (
            (m + 0.5) * math.log((m + 1) / (odds * (count - m + 1)))
            + (count + 1) * math.log((count - m + 1) / (count - k + 1))
            + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
            + _tail(m) + _tail(count - m) - _tail(k) - _tail(count - k)
        )  # fmt: skip
        return not v or math.log(v) <= bound

    def draw(self, uniform: Next) -> float:
        """One number."""
        while True:
            u, v = uniform() - 0.5, uniform()
            edge = 0.5 - abs(u)
            k = math.floor((2 * self.a / edge + self.b) * u + self.centre) if edge else -1
            if edge >= 0.07 and v <= self.accepted:
                return k
            if 0 <= k <= self.count and self.decides(edge, v, k):
                return k

    def propose(self, u: Any, v: Any) -> tuple[Any, Any]:
        """Proposals, and which are accepted."""
        edge = 0.5 - np.abs(u)
        k = np.floor((2 * self.a / edge + self.b) * u + self.centre)
        accepted = (edge >= 0.07) & (v <= self.accepted)
        unclear = ~accepted & (k >= 0) & (k <= self.count) & (edge > 0)
        return k, _decided(accepted, unclear, self.decides, edge, v, k)


_of_trials = functools.lru_cache(1024)(_Squeezed)


def _binomial(
    kind: Any, uniform: Next, count: float, p: float, q: float, mean: float, log_fail: float
) -> float:
    """Of the two outcomes the rarer one is counted."""
    if count <= 0 or p <= 0:
        return 0
    if p >= 1:
        return count
    if p != p or not count < math.inf:
        return math.nan
    if mean >= 10:
        found = _of_trials(count, q, kind).draw(uniform)
    else:
        found = _waited(uniform, count, log_fail)
    return found if p <= 0.5 else count - found


def _binomial_of_one(
    kind: Any, source: TwisterSource, size: int, count: float, p: float, q: float, mean: float,
    log_fail: float,
) -> Any:  # fmt: skip
    """Many numbers of the same trials."""
    if mean >= 10:
        found = by_rejection(source, size, _of_trials(count, q, kind).propose)
    else:  # waiting times are whole, and so exact, if none is longer than need be
        found = by_sums(
            source,
            size,
            lambda uniform: np.minimum(np.ceil(exact("log")(uniform) / log_fail), count + 1),
            count,
        )
    return found if p <= 0.5 else count - found


@kernel("binomial")
def binomial(count: Any, prob: Any, generator: Any = None) -> Any:
    """Numbers of successes; NaN where there is no such probability."""
    spec = rule_of("binomial")(count, prob)
    n, p = (np.broadcast_to(t.raw_data, spec.shape) for t in (count, prob))

    def shares() -> tuple[Any, Any, Any]:
        one = p.dtype.type(1)
        q = np.where(p > 0.5, one - p, p)
        return q, n * q, np.log1p(-q)

    columns = (n, p, *quietly(shares))
    source = stream_of(generator)
    if n.size > FEW and all((c == c.flat[0]).all() for c in columns[:2]):
        row = [float(c.flat[0]) for c in columns]
        if 0 < row[0] < 1 << 40 and 0 < row[1] < 1:
            with source.lock:
                drawn = quietly(_binomial_of_one, n.dtype.type, source, n.size, *row)
            return _rounded(drawn.reshape(n.shape), spec.dtype)
    return _rounded(_loop(source, functools.partial(_binomial, n.dtype.type), *columns), spec.dtype)


# ---- gamma numbers ------------------------------------------------------------------------------

_THIRD: Final = np.float32(1 / 3)
_SQUEEZE: Final = float(np.float32(0.0331))


def _gamma(source: TwisterSource, uniform: Next, shape: float, power: float, d: float) -> float:
    """Rejection with a normal number (Marsaglia and Tsang, 2000)."""
    if not shape > 0:
        return 0
    scale = (1 - uniform()) ** power if shape < 1 else 1.0
    c = 1 / math.sqrt(9 * d)
    while True:
        x = source.normal(uniform)
        y = 1 + c * x
        if y <= 0:
            continue
        v = y * y * y
        u = 1 - uniform()
        square = x * x
        if u < 1 - _SQUEEZE * square * square or math.log(u) < 0.5 * square + d * (
            1 - v + math.log(v)
        ):
            return scale * d * v


def _gammas(shapes: Any, generator: Any) -> Any:
    """Gamma numbers as float64, of parameters in the dtype of ``shapes``."""
    source = stream_of(generator)
    raised = shapes + (shapes < 1).astype(shapes.dtype)
    powers = quietly(np.divide, shapes.dtype.type(1), shapes)
    return _loop(source, functools.partial(_gamma, source), shapes, powers, raised - _THIRD)


@kernel("_standard_gamma")
def standard_gamma(self: Any, generator: Any = None) -> Any:
    """Gamma numbers, none of them zero."""
    spec = rule_of("_standard_gamma")(self)
    least = np.finfo(self.raw_data.dtype).tiny
    return _rounded(np.maximum(_gammas(self.raw_data, generator), least), spec.dtype)


@kernel("_sample_dirichlet")
def sample_dirichlet(self: Any, generator: Any = None) -> Any:
    """Shares of gamma numbers, none of them 0 or 1."""
    spec = rule_of("_sample_dirichlet")(self)
    limits = np.finfo(self.raw_data.dtype)
    drawn = np.maximum(
        _gammas(self.raw_data.astype(np.float64), generator), np.finfo(np.float64).tiny
    )
    if drawn.ndim:
        drawn = quietly(np.divide, drawn, drawn.sum(-1, keepdims=True))
    else:
        drawn = quietly(np.divide, drawn, drawn)
    return _rounded(np.clip(drawn, limits.tiny, 1 - float(limits.epsneg)), spec.dtype)
