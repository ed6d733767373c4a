"""Samples of element-wise ops: where special functions are defined, and operands that fit together."""

from __future__ import annotations

from typing import Any, Final

from .recipes import Sample
from .recipes import tensor as t

__all__ = ["DOMAINS", "POINTWISE", "SECOND_DOMAINS"]


def s(name: str, *args: Any, **kwargs: Any) -> Sample:
    """A row's sample."""
    return Sample(name, args, kwargs)


_NAN: Final = float("nan")
_INF: Final = float("inf")
_POSITIVE: Final = (0.25, 4.0)
_INSIDE: Final = (-0.875, 0.875)
# The range that the first operand is drawn from.
DOMAINS: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(("acosh", "arccosh"), (1.25, 4.0)),
    **dict.fromkeys(("atanh", "arctanh", "erfinv", "special_erfinv"), _INSIDE),
    **dict.fromkeys(("arcsin", "arccos"), (-1.0, 1.0)),
    **dict.fromkeys(("lgamma", "digamma", "special_digamma", "special_psi"), _POSITIVE),
    **dict.fromkeys(("special_gammaln", "special_entr"), _POSITIVE),
    **dict.fromkeys(("igamma", "igammac", "special_gammainc", "special_gammaincc"), _POSITIVE),
    **dict.fromkeys([f"special_bessel_y{i}" for i in (0, 1)], _POSITIVE),
    **dict.fromkeys([f"special_modified_bessel_k{i}" for i in (0, 1)], _POSITIVE),
    **dict.fromkeys([f"special_scaled_modified_bessel_k{i}" for i in (0, 1)], _POSITIVE),
    **dict.fromkeys(("copysign", "hypot", "special_i0e", "special_i1e"), (0.25, 3.0)),
    "special_log1p": (-0.75, 4.0),
    "special_zeta": (1.5, 4.0),
}
# The same of the second.
SECOND_DOMAINS: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(("xlogy", "special_xlogy", "special_zeta"), _POSITIVE),
    **dict.fromkeys(("igamma", "igammac", "special_gammainc", "special_gammaincc"), _POSITIVE),
    "hypot": (0.25, 3.0),
    "special_xlog1py": (-0.75, 4.0),
}

_PARTS: Final = (
    s("float32", t(2, 3), t(2, 3)),
    s("float64", t(4, dtype="float64"), t(dtype="float64")),
    s("broadcast", t(2, 1), t(3)),
    s("empty", t(0, 3), t(0, 3)),
)
_GAMMA: Final = (
    s("float32", t(2, 3, low=2.25, high=5.0), 2),
    s("float64", t(4, dtype="float64", low=2.25, high=5.0), 3),
    s("int64", t(4, dtype="int64", low=3, high=6), 2),
    s("0d", t(low=2.25, high=5.0), 1),
)
_SHARES: Final = tuple(
    s(name, t(*shape, dtype=d, low=0.125, high=0.875))
    for name, shape, d in (
        ("float32", (2, 3), "float32"),
        ("float64", (4,), "float64"),
        ("bfloat16", (4,), "bfloat16"),
        ("0d", (), "float32"),
        ("empty", (0, 3), "float32"),
    )
)
_ORDERS: Final = (
    s("first", 1, t(2, 3, low=0.25, high=4.0)),
    s("none", 0, t(4, dtype="float64", low=0.25, high=4.0)),
    s("third", 3, t(4, dtype="float64", low=0.25, high=4.0)),
    s("int64", 2, t(4, dtype="int64", low=1, high=6)),
)
_HALVES: Final = (
    s("last", t(3, 4)),
    s("first", t(4, 3, dtype="float64"), 0),
    s("bfloat16", t(6, dtype="bfloat16")),
    s("empty", t(0, 2)),
)
_SCALED: Final = (
    s("same", t(2, 3), t(2, 3)),
    s("row", t(2, 3), t(3, dtype="int64")),
    s("float64", t(4, dtype="float64"), t(dtype="float64")),
)
_THREE: Final = (
    s("same", t(2, 3), t(2, 3), t(2, 3, low=1.0)),
    s("broadcast", t(2, 3), t(3), t(2, 1, low=1.0)),
    s("value", t(4, dtype="float64"), t(4, dtype="float64"), t(low=1.0), value=-0.5),
    s("bfloat16", t(4, dtype="bfloat16"), t(4, dtype="bfloat16"), t(4, dtype="bfloat16", low=1.0)),
    s("complex", *(t(3, dtype="complex64", low=1.0) for _ in range(3))),
    s("empty", t(0, 3), t(0, 3), t(3, low=1.0)),
)
_LOGARITHMS: Final = (s("number", 2.0, t(2, 3, low=0.25)), s("zero", 0, t(3, low=0.25)))
_DEGREES: Final = (
    s("degrees", t(2, 3), t(2, 3, low=0, high=6)),
    s("broadcast", t(2, 1, dtype="float64"), t(3, dtype="int64", low=0, high=9)),
    s("number", t(4, dtype="float64"), 3),
    s("zero", t(3), 0),
    s("empty", t(0, 3), t(3, low=0)),
)
_FAMILIES: Final = (
    *(f"{shift}chebyshev_polynomial_{k}" for k in "tuvw" for shift in ("", "shifted_")),
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
)
POINTWISE: Final[dict[str, tuple[Sample, ...]]] = {
    **dict.fromkeys(("complex", "polar"), _PARTS),
    **dict.fromkeys(("logit", "special_logit", "special_ndtri"), _SHARES),
    **dict.fromkeys(("mvlgamma", "special_multigammaln"), _GAMMA),
    **dict.fromkeys(("polygamma", "special_polygamma"), _ORDERS),
    **dict.fromkeys((f"special_{name}" for name in _FAMILIES), _DEGREES),
    **dict.fromkeys(("addcmul", "addcdiv"), _THREE),
    **dict.fromkeys(
        ("xlogy.Scalar_Self", "special_xlogy.self_scalar", "special_xlog1py.self_scalar"),
        _LOGARITHMS,
    ),
    "float_power": (
        s("float64", t(2, 3, dtype="float64", low=0.25), t(3, dtype="float64")),
        s("number", t(2, dtype="float64", low=0.25), 2),
        s("complex128", t(3, dtype="complex128", low=0.25), 0.5),
    ),
    **dict.fromkeys(("pow.Scalar", "float_power.Scalar"), (s("number", 2.0, t(2, 3)),)),
    **dict.fromkeys(
        ("bitwise_left_shift.Scalar_Tensor", "bitwise_right_shift.Scalar_Tensor"),
        (s("int64", 37, t(4, dtype="int64", low=0, high=4)),),
    ),
    "polygamma_": (s("first", t(2, 3, low=0.25, high=4.0), 1),),
    "special_zeta.self_scalar": (s("number", 2.5, t(2, 3, low=0.25)),),
    "glu": _HALVES,
    "ldexp_": _SCALED,
    "heaviside": (
        s("float32", t(2, 3), t(3)),
        s("zeros", t(4, values=(0.0, -0.0, 1.0, -1.0)), t(4)),
        s("int64", t(5, dtype="int64"), t(5, dtype="int64")),
    ),
    "lerp.Scalar": (
        s("near", t(2, 3), t(2, 3), 0.25),
        s("far", t(4, dtype="float64"), t(dtype="float64"), 0.75),
        s("beyond", t(3, dtype="complex64"), t(3, dtype="complex64"), 1.5),
    ),
    "lerp.Tensor": (
        s("same", t(2, 3), t(2, 3), t(2, 3, low=-1.0, high=1.0)),
        s("broadcast", t(2, 3, dtype="float64"), t(3, dtype="float64"), t(2, 1, dtype="float64")),
    ),
    "prelu": (
        s("one", t(2, 3, 2), t(1)),
        s("channels", t(2, 3, 2, dtype="float64"), t(3, dtype="float64")),
        s("0d", t(), t()),
    ),
    "_prelu_kernel": (s("same", t(2, 3), t(2, 3)), s("row", t(2, 3), t(3))),
    "round.decimals": (s("one", t(2, 3), decimals=1), s("tens", t(4, low=0, high=99), decimals=-1)),
    "nan_to_num": (
        s("given", t(5, values=(_NAN, _INF, -_INF, 0.0, 1.0)), 1.0, 2.0, -3.0),
        s("nan", t(3, values=(_NAN, 0.5, -1.0))),
        s("int64", t(4, dtype="int64")),
        s("complex64", t(3, dtype="complex64")),
    ),
    "threshold": (s("float32", t(2, 3), 0.5, 7.0), s("int64", t(5, dtype="int64"), 1, 9)),
    "fill.Tensor": (s("float32", t(2, 3), t()), s("converted", t(2, 3), t(dtype="int64"))),
}
