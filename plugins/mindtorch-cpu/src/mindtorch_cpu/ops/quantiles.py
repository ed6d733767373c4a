"""How gamma and beta numbers change with their parameters at the same quantile.

With the distribution function F(x; a) and its density f, a number at the same quantile changes by
-(dF/da) / f. The integral of the density's derivative is computed by the tanh-sinh rule (Takahasi and
Mori, 1974) after a substitution that takes the singularity at 0 out of it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..arrays import NUMPY_OF, in_common_order, quietly, wrap
from ..register import kernel
from .gamma_functions import digamma

__all__: list[str] = []

_STEPS: Final = np.arange(-80, 81) * 0.06
_SINH: Final = 0.5 * np.pi * np.sinh(_STEPS)
# Nodes in (0, 1), as logarithms so that those near 0 keep their digits, and weights.
_LOGS: Final = -np.log1p(np.exp(-2 * _SINH))
_WEIGHTS: Final = 0.06 * np.pi * np.cosh(_STEPS) * np.exp(-2 * np.logaddexp(_SINH, -_SINH))
_OTHERS: Final = _LOGS[::-1]  # logarithms of 1 - u
# Above this the expansion of a gamma number in a normal one (Cornish and Fisher, 1938) is as good.
_NORMAL: Final = 1e3


def _gamma_below(a: Any, x: Any) -> Any:
    """``dx/da`` of gamma numbers, from the integral from 0 to them."""
    root = _LOGS / a  # logarithm of u**(1/a)
    rising = np.exp(np.minimum(x * -np.expm1(root), 700))
    return -(x / a) * rising * (np.log(x) + root - digamma(a))


def _gamma_above(a: Any, x: Any) -> Any:
    """The same, from the integral from them to infinity."""
    scale = 1 + np.sqrt(x)
    beyond = scale * np.exp(_LOGS - _OTHERS)
    density = np.exp((a - 1) * np.log1p(beyond / x) - beyond - 2 * _OTHERS)
    return scale * density * (np.log(x + beyond) - digamma(a))


def _gamma_change(a: Any, x: Any) -> Any:
    """``dx/da`` of gamma numbers, from the nearer end."""
    flat_a, flat_x = (np.ravel(v)[:, None] for v in (a, x))
    below = flat_x <= flat_a
    low, high = np.where(below, flat_x, flat_a), np.where(below, flat_a, flat_x)
    terms = np.where(below, _gamma_below(flat_a, low), _gamma_above(flat_a, high))
    found = (terms * _WEIGHTS).sum(-1).reshape(a.shape)
    off = x - a
    return np.where(a > _NORMAL, 1 + off / (2 * a) - (off * off / a - 1) / (6 * a), found)


@kernel("_standard_gamma_grad")
def standard_gamma_grad(self: Any, output: Any) -> Any:
    """How gamma numbers change with their shapes."""
    d = self.raw_dtype
    a, x = (t.raw_data.astype(np.float64) for t in (self, output))
    made = quietly(_gamma_change, a, x).astype(NUMPY_OF[d])
    return wrap(in_common_order(made, self.raw_data), d)


def _beta_integral(a: Any, b: Any, x: Any, below: Any) -> Any:
    """``d/da`` of the integral of a beta density up to ``x``, over the density at ``x``.

    ``below`` is 1 for the derivative in ``a``; 0 for that in the other parameter.
    """
    a_, b_, x_ = a[..., None], b[..., None], x[..., None]
    root = _LOGS / a_
    t = x_ * np.exp(root)
    rest = np.log1p(-t) - np.log1p(-x_)
    log = np.where(below[..., None] > 0, np.log(x_) + root, np.log1p(-t))
    one = np.where(below > 0, a, b)
    mean = (digamma(one) - digamma(a + b))[..., None]
    terms = np.exp(np.minimum((b_ - 1) * rest, 700)) * (log - mean)
    return x / a * (terms * _WEIGHTS).sum(-1)


def _beta_change(x: Any, a: Any, total: Any) -> Any:
    """``dx/da / (1 - x)`` of beta numbers, from the nearer end."""
    b = total - a
    low = x <= a / total
    near = np.where(low, x, 1 - x)
    first, second = np.where(low, a, b), np.where(low, b, a)
    found = _beta_integral(first, second, near, np.where(low, 1.0, 0.0))
    return np.where(low, -found, found) / (1 - x)


@kernel("_dirichlet_grad")
def dirichlet_grad(x: Any, alpha: Any, total: Any) -> Any:
    """How shares change with their concentrations."""
    d = x.raw_dtype
    arrays = np.broadcast_arrays(*(t.raw_data.astype(np.float64) for t in (x, alpha, total)))
    made = quietly(_beta_change, *arrays).astype(NUMPY_OF[d])
    return wrap(in_common_order(made, x.raw_data), d)
