"""Special functions, by SciPy; it is imported when the first is called."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_core.dispatch.registry import registry
from mindtorch_core.dtypes import float32
from mindtorch_core.promotion import to_floating
from mindtorch_core.tensor import Tensor

from ..register import composition_of, register, rule_of
from .elementwise import in_single
from .functions import unary, unary_inplace
from .pointwise import binary, inplace

# By op, SciPy's function of one tensor.
_ONE = {
    "i0": "i0",
    "special_bessel_j0": "j0",
    "special_bessel_j1": "j1",
    "special_bessel_y0": "y0",
    "special_bessel_y1": "y1",
    "special_entr": "entr",
    "special_erfcx": "erfcx",
    "special_i0e": "i0e",
    "special_i1": "i1",
    "special_i1e": "i1e",
    "special_log_ndtr": "log_ndtr",
    "special_modified_bessel_k0": "k0",
    "special_modified_bessel_k1": "k1",
    "special_ndtr": "ndtr",
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


def _scipy(name: str) -> Callable[..., Any]:
    """A function of SciPy, looked up when it is called."""

    def call(*arrays: Any) -> Any:
        return getattr(importlib.import_module("scipy.special"), name)(*arrays)

    return call


def _airy(a: Any) -> Any:
    """SciPy gives up far to the right, where the function has vanished."""
    return np.where(a > 1000, a.dtype.type(0), _scipy("airy")(a)[0])


def _erfinv(a: Any) -> Any:
    """SciPy takes 100 times longer where it reports an error, at the ends of (-1, 1) and outside."""
    inside = np.absolute(a) < 1
    ends = np.where(np.absolute(a) == 1, np.copysign(a.dtype.type(np.inf), a), np.nan)
    found = _scipy("erfinv")(np.where(inside, a, a.dtype.type(0)))
    return np.where(inside, found, ends.astype(a.dtype))


def _digamma(a: Any) -> Any:
    """By reflection below 0, where SciPy is 30 times slower (DLMF 5.5.4); NaN at the poles."""
    psi = _scipy("psi")
    below = a < 0
    if not below.any():
        return psi(a)
    x = a.astype(np.float64)
    whole = np.rint(x)
    turn = np.where(x == whole, np.nan, np.pi / np.tan(np.pi * (x - whole)))
    return np.where(
        below, psi(np.where(below, 1 - x, 1)) - turn, psi(np.where(below, 1, a))
    ).astype(a.dtype)


def _lgamma(a: Any) -> Any:
    """Infinite at both infinities, as in C."""
    return np.where(np.isinf(a), a.dtype.type(np.inf), _scipy("gammaln")(a))


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
    _one(_name, in_single(_scipy(_function)))
for _name, _function in _TWO.items():
    _two(_name, in_single(_scipy(_function)))
_one("special_airy_ai", in_single(_airy))
_one("erfinv", in_single(_erfinv))
_one("digamma", in_single(_digamma))
_one("lgamma", in_single(_lgamma))


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


for _entry in list(registry):
    if "_polynomial_" in _entry.name and "." not in _entry.name:
        _in_double(_entry.name.removeprefix("aten::"))
