"""The error function and the normal distribution.

Formulas: NIST Digital Library of Mathematical Functions, chapter 7.
"""

from __future__ import annotations

import math
from typing import Any, Final

from ...dispatch.functions import fn, fn_special
from ..elementwise.composed import by_name, function

_SQRT_HALF: Final = math.sqrt(0.5)
_SQRT_PI: Final = math.sqrt(math.pi)

function(
    "erfinv",
    "Inverse of the error function.",
    lambda g, self: g * (_SQRT_PI / 2) * fn.erfinv(self).square().exp(),
)
function(
    "special_erfcx",
    "Scaled complementary error function ``exp(x**2) * erfc(x)``.",
    lambda g, self, result: g * (self * result * 2 - 2 / _SQRT_PI),
    inplace=False,
    namespaces=("special:erfcx",),
)
function(
    "special_ndtr",
    "Probability that a standard normal number is below ``x``.",
    lambda g, self: g * (self * self * -0.5).exp() / math.sqrt(2 * math.pi),
    lambda x: fn.erfc(x * -_SQRT_HALF) * 0.5,
    inplace=False,
    namespaces=("special:ndtr",),
)
function(
    "special_ndtri",
    "Number below which a standard normal one is with the given probability.",
    lambda g, result: g * math.sqrt(2 * math.pi) * (result * result * 0.5).exp(),
    inplace=False,
    namespaces=("special:ndtri",),
)


def _log_ndtr(x: Any) -> Any:
    """Far to the left, where the probability vanishes, its logarithm is that of a scaled one."""
    left = (fn_special.erfcx(x * -_SQRT_HALF) * 0.5).log() - x * x * 0.5
    return fn.where(x < -1, left, fn.log1p(fn.erfc(x * _SQRT_HALF) * -0.5))


function(
    "special_log_ndtr",
    "Logarithm of `ndtr`, accurate far to the left as well.",
    lambda g, self: g / by_name("special_erfcx")(self * -_SQRT_HALF) * math.sqrt(2 / math.pi),
    _log_ndtr,
    inplace=False,
    namespaces=("special:log_ndtr",),
)


def _entr(x: Any) -> Any:
    inside = fn.where(x == 0, 0.0, -x * x.log())
    return fn.where(x < 0, -math.inf, inside)


function(
    "special_entr",
    "Entropy ``-x * log(x)``: 0 at 0, minus infinity for negative numbers.",
    lambda g, self: g * -(self.log() + 1),
    _entr,
    inplace=False,
    namespaces=("special:entr",),
)
