"""What the ops of this family are tested with; only the testing kit reads it."""

from __future__ import annotations

from typing import Final

from ..family_samples import SHARES, FamilySamples, call
from ..family_samples import sample as s
from ..recipes import tensor as t

__all__ = ["SAMPLES"]

_GAMMA: Final = (
    s("float32", t(2, 3, low=2.25, high=5.0), 2),
    s("float64", t(4, dtype="float64", low=2.25, high=5.0), 3),
    s("int64", t(4, dtype="int64", low=3, high=6), 2),
    s("0d", t(low=2.25, high=5.0), 1),
)
_ORDERS: Final = (
    s("first", 1, t(2, 3, low=0.25, high=4.0)),
    s("none", 0, t(4, dtype="float64", low=0.25, high=4.0)),
    s("third", 3, t(4, dtype="float64", low=0.25, high=4.0)),
    s("int64", 2, t(4, dtype="int64", low=1, high=6)),
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
_POSITIVE: Final = (0.25, 4.0)
_INSIDE: Final = (-0.875, 0.875)
_ANY: Final = (-3.0, 3.0)

SAMPLES: Final = FamilySamples(
    calls={
        # aliases
        **dict.fromkeys(("special_logit", "special_ndtri"), SHARES),
        "special_xlogy.self_scalar": _LOGARITHMS,
        # gamma
        **dict.fromkeys(("mvlgamma", "special_multigammaln"), _GAMMA),
        **dict.fromkeys(("polygamma", "special_polygamma"), _ORDERS),
        "polygamma_": (s("first", t(2, 3, low=0.25, high=4.0), 1),),
        "special_zeta.self_scalar": (s("number", 2.5, t(2, 3, low=0.25)),),
        # polynomials
        **dict.fromkeys((f"special_{name}" for name in _FAMILIES), _DEGREES),
    },
    functions={
        # gamma
        "Tensor.polygamma": call(t(4, low=0.5), 1),
    },
    domains={
        **dict.fromkeys(("erfinv", "special_erfinv"), (_INSIDE,)),
        **dict.fromkeys(
            (
                "lgamma",
                "digamma",
                "special_digamma",
                "special_psi",
                "special_gammaln",
                "special_entr",
                "special_bessel_y0",
                "special_bessel_y1",
                "special_modified_bessel_k0",
                "special_modified_bessel_k1",
                "special_scaled_modified_bessel_k0",
                "special_scaled_modified_bessel_k1",
            ),
            (_POSITIVE,),
        ),
        **dict.fromkeys(
            ("igamma", "igammac", "special_gammainc", "special_gammaincc"), (_POSITIVE, _POSITIVE)
        ),
        **dict.fromkeys(("special_i0e", "special_i1e"), ((0.25, 3.0),)),
        "special_log1p": ((-0.75, 4.0),),
        "special_zeta": ((1.5, 4.0), _POSITIVE),
        "special_xlogy": (_ANY, _POSITIVE),
    },
    unlike_pytorch={"special_airy_ai": "PyTorch 2.13 gives nan at infinity, where the limit is 0"},
)
