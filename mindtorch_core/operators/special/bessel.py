"""Bessel and Airy functions.

Formulas: NIST Digital Library of Mathematical Functions, chapters 9 and 10.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import NONDIFF
from ...opdefs.define import EVERYWHERE
from ..elementwise.angles import sinc_slope
from ..elementwise.composed import by_name, function


def _bessel(name: str, doc: str, grad: Any, **more: Any) -> None:
    """Define ``special_<name>``, which a numerical library computes."""
    properties: dict[str, Any] = {"inplace": False, "namespaces": (f"special:{name}",)} | more
    function(f"special_{name}", doc, grad, **properties)


def _special(name: str) -> Callable[[Any], Any]:
    return lambda x: by_name(f"special_{name}")(x)


def _share(g: Any, self: Any, slope: Any, at_zero: float) -> Any:
    """``g`` times a slope that is divided by ``self`` somewhere, and known at 0."""
    return g * fn.where(self == 0, at_zero, slope)


def _nonzero(self: Any) -> Any:
    """The input with 1 for 0, so that nothing divides by 0, in second derivatives either."""
    return fn.where(self == 0, 1, self)


# ---- of the first and second kind ---------------------------------------------------------------

_FIRST = "Bessel function of the first kind of order"
_SECOND = "Bessel function of the second kind of order"
_j1, _y1 = _special("bessel_j1"), _special("bessel_y1")
_bessel("bessel_j0", f"{_FIRST} 0.", lambda g, self: -g * _j1(self))
_bessel(
    "bessel_j1",
    f"{_FIRST} 1.",
    lambda g, self, result: _share(
        g, self, _special("bessel_j0")(self) - result / _nonzero(self), 0.5
    ),
)
_bessel("bessel_y0", f"{_SECOND} 0.", lambda g, self: -g * _y1(self))
_bessel(
    "bessel_y1",
    f"{_SECOND} 1.",
    lambda g, self, result: g * (_special("bessel_y0")(self) - result / self),
)


def _spherical(x: Any) -> Any:
    """The quotient has no digits to lose next to 0, where the sine is its argument."""
    found = fn.where(x == 0, 1.0, x.sin() / _nonzero(x))
    return fn.where(x.isinf(), 0.0, found)


_bessel(
    "spherical_bessel_j0",
    "Spherical Bessel function of the first kind of order 0: ``sin(x) / x``, and 1 at 0.",
    lambda g, x: g * sinc_slope(x),
    formula=_spherical,
    signature="Tensor x",
)

# ---- modified -----------------------------------------------------------------------------------

_MODIFIED = "Modified Bessel function of the {} kind of order {}"
_i1 = _special("i1")
_i1e = _special("i1e")
function(
    "i0",
    _MODIFIED.format("first", 0) + ".",
    lambda g, self: g * _i1(self),
    inplace_namespaces=EVERYWHERE,
)
_bessel(
    "i0e",
    "`i0` times ``exp(-|x|)``.",
    lambda g, self, result: g * (_i1e(self) - self.sgn() * result),
)
_bessel(
    "i1",
    _MODIFIED.format("first", 1) + ".",
    lambda g, self, result: _share(g, self, fn.i0(self) - result / _nonzero(self), 0.5),
)
_bessel(
    "i1e",
    "`i1` times ``exp(-|x|)``.",
    lambda g, self, result: _share(
        g,
        self,
        _special("i0e")(self) - result * (self.sgn() + 1 / _nonzero(self)),
        0.5,
    ),
)
_bessel("modified_bessel_i0", "Alias of `i0`.", None, formula=lambda x: fn.i0(x))
_bessel("modified_bessel_i1", "Alias of `i1`.", None, formula=_i1)
_k0, _k1 = _special("modified_bessel_k0"), _special("modified_bessel_k1")
_bessel("modified_bessel_k0", _MODIFIED.format("second", 0) + ".", lambda g, self: -g * _k1(self))
_bessel(
    "modified_bessel_k1",
    _MODIFIED.format("second", 1) + ".",
    lambda g, self, result: -g * (_k0(self) + result / self),
)
_bessel(
    "scaled_modified_bessel_k0",
    "`modified_bessel_k0` times ``exp(x)``.",
    lambda g, x, result: g * (result - _special("scaled_modified_bessel_k1")(x)),
    signature="Tensor x",
)
_bessel(
    "scaled_modified_bessel_k1",
    "`modified_bessel_k1` times ``exp(x)``.",
    lambda g, x, result: g * (result - _special("scaled_modified_bessel_k0")(x) - result / x),
    signature="Tensor x",
)
_bessel("airy_ai", "Airy function Ai.", NONDIFF, signature="Tensor x")
