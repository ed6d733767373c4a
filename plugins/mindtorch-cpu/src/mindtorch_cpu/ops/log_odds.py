"""The logarithm of odds, and its gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .one_array import activation, number_like
from .slopes import slope


def _logit(a: Any, eps: float | None = None) -> Any:
    if eps is not None:
        low, high = number_like(eps, a), number_like(1 - eps, a)
        a = np.where(np.less(a, low), low, np.where(np.greater(a, high), high, a))
    return np.log(np.divide(a, np.subtract(number_like(1, a), a)))


def _logit_backward(g: Any, x: Any, eps: float | None) -> Any:
    zero, one = x.dtype.type(0), x.dtype.type(1)
    found = np.divide(g, np.multiply(x, np.subtract(one, x)))
    if eps is None or eps < 0:
        low, high, beyond = zero, one, x.dtype.type(math.nan)
    else:
        low, high, beyond = x.dtype.type(eps), x.dtype.type(1 - eps), zero
    within = np.where(np.less_equal(x, high), found, beyond)
    return np.where(np.greater_equal(x, low), within, beyond)


activation("logit", _logit, inplace=False)
slope("logit_backward", _logit_backward, split=lambda g, x, eps=None: (g, x, [eps]))
