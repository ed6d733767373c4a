"""Special functions, by SciPy; it is imported when the first is called."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import Tensor, float32, to_floating
from mindtorch_core.dispatch.registry import registry

from ..compiled import one_pass
from ..register import composition_of, register, rule_of
from .elementwise import in_single
from .error_functions import erfcx, halves, in_double, log_ndtr, ndtr, scipy
from .functions import unary, unary_inplace
from .gamma_functions import digamma, lgamma
from .pointwise import binary, inplace

# By op, SciPy's function of one tensor.
_ONE = {
    "i0": "i0",
    "special_bessel_j0": "j0",
    "special_bessel_j1": "j1",
    "special_bessel_y0": "y0",
    "special_bessel_y1": "y1",
    "special_entr": "entr",
    "special_i0e": "i0e",
    "special_i1": "i1",
    "special_i1e": "i1e",
    "special_modified_bessel_k0": "k0",
    "special_modified_bessel_k1": "k1",
    "special_ndtri": "ndtri",
    "special_scaled_modified_bessel_k0": "k0e",
    "special_scaled_modified_bessel_k1": "k1e",
}
# The same of two.
_TWO = {
    "igamma": "gammainc",
    "igammac": "gammaincc",
    "special_xlog1py": "xlog1py",
    "special_zeta": "zeta",
    "xlogy": "xlogy",
}


def _airy(a: Any) -> Any:
    """SciPy's, but far out, where it loses digits and gives up, of waves and of what vanishes."""
    found = np.asarray(scipy("airy")(a)[0])
    for side, fn in ((a > 8, _airy_right), (a < -30, _airy_left)):
        if side.any():
            found[side] = fn(a[side])
    return found


def _airy_right(a: Any) -> Any:
    x = np.minimum(a, 200)
    power, rest = one_and_a_half(x)
    return scipy("airye")(x)[0] * np.exp(-power) * np.exp(-rest)


# Of the expansion in powers of ``2 / 3 * x ** 1.5`` (Abramowitz and Stegun, 10.4.60).
_WAVES: Final = tuple(
    itertools.accumulate(
        range(1, 7),
        lambda u, k: u * (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1)),
        initial=1.0,
    )
)


def _airy_left(a: Any) -> Any:
    x = -a
    power, rest = one_and_a_half(x)
    (a, b), (c, d) = ((np.sin(angle), np.cos(angle)) for angle in (power, rest))
    sine, cosine = a * d + b * c, b * d - a * c
    even, odd = (
        sum((-1) ** k * u / power ** (2 * k + r) for k, u in enumerate(_WAVES[r::2]))
        for r in (0, 1)
    )
    waves = (cosine + sine) * even + (sine - cosine) * odd
    return waves / (math.sqrt(2 * math.pi) * np.sqrt(np.sqrt(x)))


def one_and_a_half(x: Any) -> tuple[Any, Any]:
    """``2 / 3 * x ** 1.5``, which has more digits than a float64, and what its rounding has lost."""
    root = np.sqrt(x)
    square, rest = product(root, root)
    root_rest = ((x - square) - rest) / (2 * root)
    power, rest = product(x, root)
    rest = rest + x * root_rest
    made = power / 1.5
    back, lost = product(made, 1.5)
    return made, (((power - back) - lost) + rest) / 1.5


def product(a: Any, b: Any) -> tuple[Any, Any]:
    """A product and what its rounding has lost (Dekker, 1971)."""
    made = a * b
    (a1, a2), (b1, b2) = halves(a), halves(b)
    return made, ((a1 * b1 - made) + a1 * b2 + a2 * b1) + a2 * b2


# Polynomials (at Chebyshev's nodes) of ``erfinv(x) / x``, the lowest powers given first: in -log(1 - x * x)
# from 0 to 5, relative error 6e-10, and in its square root as far as float32 goes, 1.3e-9. A variable is
# brought into [-1, 1]: middle and half the length of its range stand before.
_ERFINV: Final = (
    (2.5, 2.5, (
        1.50140935175, 0.616600691871, -0.0261082817529, -0.0195735618337, 0.00852594239123,
        -0.000487890635756, -0.000836490773861, 0.000292169011509, 2.51825623187e-05,
        -4.14343310226e-05, 4.13954429994e-06, 2.94365337241e-06,
    )),
    (3.1680339887498947, 0.9319660112501049, (
        3.00152680944, 0.935970674874, 0.00556217387711, -0.00379853250444, 0.00247748657912,
        -0.00155135411259, 0.000765886256364, -0.000217279751987, -3.74788895127e-05,
        6.48787579019e-05, -1.6057242016e-05, -2.32542576158e-06,
    )),
)  # fmt: skip


def _erfinv(a: Any) -> Any:
    """Float32 by polynomials; SciPy takes 100 times longer where it reports an error, at 1 and outside."""
    if a.dtype == np.float32:
        made = one_pass("erfinv", lambda tracer, x: [_erfinv_single(x)], a.dtype, a)
        return _erfinv_single(a) if made is None else made
    inside = np.absolute(a) < 1
    ends = np.where(np.absolute(a) == 1, np.copysign(a.dtype.type(np.inf), a), np.nan)
    found = scipy("erfinv")(np.where(inside, a, a.dtype.type(0)))
    return np.where(inside, np.copysign(found, a), ends.astype(a.dtype))


def _erfinv_single(a: Any) -> Any:
    x = a.astype(np.float64)
    w = np.negative(np.log1p(np.negative(np.multiply(x, x))))
    near, far = (
        _polynomial(np.divide(np.subtract(v, middle), reach), factors)
        for v, (middle, reach, factors) in zip((w, np.sqrt(w)), _ERFINV, strict=True)
    )
    found = np.multiply(np.where(w < 5, near, far), x)
    return np.where(np.absolute(x) == 1, np.copysign(np.inf, x), found).astype(np.float32)


def _polynomial(x: Any, factors: Sequence[float]) -> Any:
    total = np.multiply(x, factors[-1])
    for factor in reversed(factors[1:-1]):
        total = np.multiply(np.add(total, factor), x)
    return np.add(total, factors[0])


def _register(name: str, run: Any, run_inplace: Any) -> None:
    register(name, run)
    definition = registry.entry(name).definition
    if definition is not None and definition.inplace:
        register(f"{name}_", run_inplace)


def _one(name: str, fn: Callable[..., Any]) -> None:
    _register(
        name,
        unary(name, fn, to_float=True),
        unary_inplace(name, fn, to_float=True, plain=True),
    )


def _two(name: str, fn: Callable[..., Any]) -> None:
    _register(
        name,
        binary(name, fn, compute=to_floating),
        inplace(name, lambda a, b, out=None: _written(fn(a, b), out), compute=to_floating),
    )


def _written(data: Any, out: Any) -> Any:
    if out is None:
        return data
    np.copyto(out, data)
    return out


for _name, _function in _ONE.items():
    _one(_name, in_single(scipy(_function)))
for _name, _function in _TWO.items():
    _two(_name, in_single(scipy(_function)))
_one("special_airy_ai", in_double(_airy))
_one("erfinv", in_single(_erfinv))
_one("digamma", digamma)
_one("lgamma", lgamma)
for _name, _compute in (("erfcx", erfcx), ("log_ndtr", log_ndtr), ("ndtr", ndtr)):
    _one(f"special_{_name}", _compute)


# ---- polynomials --------------------------------------------------------------------------------


def _in_double(name: str) -> None:
    """Compute a recurrence in float64: in float32 its steps lose digits next to the roots."""
    rule, general = rule_of(name), composition_of(name)

    def run(x: Any, n: Any) -> Any:
        d = rule(x, n).dtype
        if d is not float32:
            return general(x, n)
        return general(*[v.double() if isinstance(v, Tensor) else v for v in (x, n)]).to(d)

    register(name, run)


for _family, _kinds in {
    "chebyshev": "tuvw",
    "shifted_chebyshev": "tuvw",
    "hermite": ("h", "he"),
    "laguerre": "l",
    "legendre": "p",
}.items():
    for _kind in _kinds:
        _in_double(f"special_{_family}_polynomial_{_kind}")
