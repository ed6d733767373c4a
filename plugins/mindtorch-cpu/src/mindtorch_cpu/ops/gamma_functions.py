"""The logarithm of the gamma function and its derivative, next to their roots too."""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from .error_functions import for_double, in_double, scipy

__all__ = ["digamma", "lgamma"]

# Roots of the logarithm below 0, each in two parts: the others are as good as integers.
_ROOTS: Final = (
    (-2.4570247382208006, -3.7075610815513266e-17),
    (-2.7476826467274127, 9.055340329338315e-17),
    (-3.14358088834998, -2.1818179852331714e-16),
    (-3.955294284858598, -1.999428391746348e-17),
    (-4.039361839740537, 2.1143995503980602e-16),
    (-4.991544640560048, 1.5174411760571722e-16),
    (-5.0082181683225935, -4.3926353491015815e-17),
    (-5.998607480080875, -3.311862478893795e-16),
)
# How far a power series reaches, in parts of the distance to its pole, and how many terms it then has.
_REACH: Final = 0.35
_TERMS: Final = 36


def _rough(x: Any) -> Any:
    """SciPy's logarithm of the gamma function, infinite at both infinities, as in C."""
    return np.where(np.isinf(x), x.dtype.type(np.inf), scipy("gammaln")(x))


@for_double(_rough)
def lgamma(x: Any) -> Any:
    """Power series about the roots, where SciPy's differences of logarithms have no digits."""
    found = _rough(x)
    near = (x > -0.5) & (x < 2.5) & (x != 0)
    if near.any():
        found[near] = _near_two(x[near])
    if ((x < -2) & (x > -6)).any():
        for root, rest in _ROOTS:
            near = np.absolute(x - root) < _REACH * abs(root - np.rint(root))
            if near.any():
                found[near] = _polynomial((x[near] - root) - rest, _series(root, rest))
    return found


def _near_two(x: Any) -> Any:
    """Between -0.5 and 2.5, from the series at 2 (DLMF 5.7.3), which reaches half as far."""
    first, second = x < 0.5, x < 1.5
    t = x - np.where(first, 0, np.where(second, 1, 2))
    total = _polynomial(t, _series(2)) - np.where(second, np.log1p(t), 0)
    return total - np.where(first, np.log(np.absolute(x)), 0)


def _polynomial(t: Any, coefficients: Any) -> Any:
    """The sum of powers, the highest first, without a constant."""
    total = np.zeros_like(t)
    for factor in coefficients:
        total = (total + factor) * t
    return total


@functools.cache
def _series(root: float, rest: float = 0) -> list[float]:
    """Coefficients at a root, highest power first: derivatives by the recurrence (DLMF 5.15.5)."""
    up = int(2 - np.floor(root))
    orders = np.arange(_TERMS, 1, -1)
    sums = scipy("zetac")(orders)
    slope = 1 - np.euler_gamma
    if up:
        sums = scipy("zeta")(orders, root + up)
        slope = scipy("psi")(root + up)
    for i in reversed(range(up)):
        apart = (root + i) + rest
        sums = sums + apart ** -orders.astype(float)
        slope = slope - 1 / apart
    return [*(sums * (-1.0) ** orders / orders), float(slope)]


@in_double
def digamma(x: Any) -> Any:
    """By reflection below 0, where SciPy is 30 times slower (DLMF 5.5.4), but for the root there.

    NaN at the poles.
    """
    psi = scipy("psi")
    below = (x < 0) & (np.absolute(x + 0.504) > 0.25)
    if not below.any():
        return psi(x)
    whole = np.rint(x)
    turn = np.where(x == whole, np.nan, np.pi / np.tan(np.pi * (x - whole)))
    return np.where(below, psi(np.where(below, 1 - x, 1)) - turn, psi(np.where(below, 1, x)))
