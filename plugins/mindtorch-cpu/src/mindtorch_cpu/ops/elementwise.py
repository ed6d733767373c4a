"""Element-wise kernels of the ops that are defined on demand, by NumPy."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import COMPLEX, FLOATING, bfloat16, bool_, finfo, int32, to_floating

from ..arrays import NUMPY_OF, TORCH_OF, WIDER, cast, in_common_order, laid_as, quietly, wrap
from ..compiled import one_pass
from ..register import composition_of, kernel, register, rule_of
from .functions import function, unary
from .pointwise import Ufunc, arithmetic, binary

_HALF: Final = frozenset(NUMPY_OF[d] for d in WIDER)
_BRAIN: Final = NUMPY_OF[bfloat16]
_BITS: Final = {4: np.int32, 8: np.int64}
_MANY: Final = 128  # elements for which several calls take less time than one of a slow function


def in_single(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays that computes half precision in float32, rounding once."""

    def call(*arrays: Any) -> Any:
        d = arrays[0].dtype
        if d not in _HALF:
            return fn(*arrays)
        return fn(*[a.astype(np.float32) for a in arrays]).astype(d)

    return call


# ---- one operand --------------------------------------------------------------------------------


def _exp2(a: Any) -> Any:
    return np.exp(a * a.dtype.type(math.log(2))) if a.dtype.kind == "c" else np.exp2(a)


def _sinc(a: Any) -> Any:
    angle = np.multiply(a, a.dtype.type(math.pi))
    return np.where(a == 0, a.dtype.type(1), np.sin(angle) / angle)


for _name in ("asinh", "acosh", "atanh"):
    function(_name, getattr(np, f"arc{_name[1:]}"), widen=True)
function("exp2", _exp2, plain=True)
function("sinc", in_single(_sinc), plain=True)
function("deg2rad", in_single(np.deg2rad), plain=True)
function("rad2deg", in_single(np.rad2deg), plain=True)
register(
    "signbit",
    unary("signbit", lambda a: a < 0 if a.dtype.kind in "iub" else np.signbit(a), result=bool_),
)


@kernel("nan_to_num")
def nan_to_num(self: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    """NaN and infinities replaced."""
    a, d = self.raw_data, self.raw_dtype
    if d.category < FLOATING:
        return composition_of("nan_to_num")(self, nan, posinf, neginf)
    if d.category == COMPLEX:
        pairs = a[..., None].view(a.real.dtype)
        found = _replaced(pairs, nan, posinf, neginf).view(a.dtype)[..., 0]
    else:
        found = _replaced(a, nan, posinf, neginf)
    return wrap(in_common_order(found, a), d)


def _replaced(a: Any, *numbers: Any) -> Any:
    """A copy with NaN and infinities replaced by numbers, or None."""
    key, made = _by_largest(a.dtype) if numbers == (None,) * 3 else _replacing(a.dtype, *numbers)
    found = one_pass(key, lambda tracer, x: [made(x)], a.dtype, a)
    return quietly(made, a) if found is None else found


def _replacing(d: Any, nan: Any, posinf: Any, neginf: Any) -> tuple[Any, Callable[[Any], Any]]:
    """What replaces NaN and infinities, those for which there is no number by the largest; and its key."""
    largest = finfo(TORCH_OF[d]).max
    high = largest if posinf is None else posinf
    low = -largest if neginf is None else neginf
    none, high, low = (
        quietly(np.array, float(x), d) for x in (0.0 if nan is None else nan, high, low)
    )

    def made(x: Any) -> Any:
        found = np.where(np.isnan(x), none, x)
        found = np.where(np.equal(x, x.dtype.type(np.inf)), high, found)
        return np.where(np.equal(x, x.dtype.type(-np.inf)), low, found)

    return ("nan_to_num", none.tobytes(), high.tobytes(), low.tobytes()), made


@functools.cache
def _by_largest(d: Any) -> tuple[Any, Callable[[Any], Any]]:
    return _replacing(d, None, None, None)


@kernel("frexp.Tensor")
def frexp(self: Any) -> Any:
    """Mantissas and exponents."""
    d = self.raw_dtype
    rule_of("frexp.Tensor")(self)
    mantissa, exponent = quietly(np.frexp, cast(self, WIDER.get(d, d)))
    mantissa = in_common_order(quietly(mantissa.astype, NUMPY_OF[d]), self.raw_data)
    return wrap(mantissa, d), wrap(in_common_order(exponent.astype(np.int32), self.raw_data), int32)


# ---- two operands -------------------------------------------------------------------------------


def _heaviside(a: Any, values: Any) -> Any:
    return np.where(a == 0, values, np.greater(a, 0).astype(values.dtype))


def _fmax(a: Any, b: Any) -> Any:
    return _extreme(np.fmax, np.maximum, np.greater_equal, a, b)


def _fmin(a: Any, b: Any) -> Any:
    return _extreme(np.fmin, np.minimum, np.less_equal, a, b)


def _extreme(ufunc: Ufunc, of_integers: Ufunc, holds: Ufunc, a: Any, b: Any) -> Any:
    """Larger or smaller elements; of equal ones the first, of bfloat16 the second, as in PyTorch.

    Zeros of both signs are equal: NumPy's vectors take one, and what is left after them the other.
    """
    if a.dtype.kind in "iub":
        return of_integers(a, b)
    kept, other = (b, a) if a.dtype == _BRAIN else (a, b)
    if type(a) is not np.ndarray:  # traced for a compiled kernel
        return np.where(holds(kept, other) | np.isnan(other), kept, other)
    found = np.asarray(ufunc(a, b))
    _choose_zeros(found, kept, other)
    return found


def _choose_zeros(found: Any, kept: Any, other: Any) -> None:
    """Put the zeros of the one operand where the other has one of another sign."""
    bits = _BITS.get(found.itemsize)
    if bits is None or not np.equal(kept, other).any():
        return  # the loops for half precision know no vectors
    kept, other, found = kept.view(bits), other.view(bits), found.view(bits)
    both = np.asarray(kept | other)
    zeros = np.equal(both, np.iinfo(both.dtype).min)
    if zeros.any():  # the sign alone: both are zeros, of which one has it
        np.bitwise_xor(found, kept, out=both)
        np.multiply(both, zeros, out=both)
        np.bitwise_xor(found, both, out=found)


def _extreme_into(ufunc: Ufunc, of_integers: Ufunc, a: Any, b: Any, out: Any) -> None:
    """The same into an array of the result's dtype."""
    if a.dtype.kind in "iub":
        of_integers(a, b, out=out)
    else:
        ufunc(a, b, out=out)
        _choose_zeros(out, a, b)


_fmax.into = partial(_extreme_into, np.fmax, np.maximum)  # type: ignore[attr-defined]
_fmin.into = partial(_extreme_into, np.fmin, np.minimum)  # type: ignore[attr-defined]


@kernel("heaviside")
def heaviside(self: Any, values: Any) -> Any:
    """0 below 0, 1 above, given values at 0."""
    rule_of("heaviside")(self, values)
    return _plain_heaviside(self, values)


_plain_heaviside = binary("heaviside", _heaviside)
register("copysign", binary("copysign", np.copysign, compute=to_floating))
register("hypot", binary("hypot", np.hypot))
register("fmax", binary("fmax", _fmax))
register("fmin", binary("fmin", _fmin))


def _lcm(a: Any, b: Any, out: Any = None) -> Any:
    """Least common multiple; the size of what overflows, but in less than an int's bits, as in PyTorch."""
    found = np.lcm(a, b, out)
    return found if found.itemsize < 4 else np.absolute(found, out)


arithmetic("gcd", np.gcd)
arithmetic("lcm", _lcm)
arithmetic("bitwise_left_shift", np.left_shift)
arithmetic("bitwise_right_shift", np.right_shift)


def _real(name: str, ufunc: Ufunc) -> None:
    """Register an op that NumPy has for real numbers only."""
    real, general = binary(name, ufunc), composition_of(name)

    def run(self: Any, other: Any) -> Any:
        kinds = self.raw_dtype.category, other.raw_dtype.category
        return (general if COMPLEX in kinds else real)(self, other)

    register(name, run)


def _logaddexp(a: Any, b: Any) -> Any:
    """NumPy's calls the library's functions for one number after the other."""
    if max(a.size, b.size) < _MANY:
        return np.logaddexp(a, b)
    less = np.negative(np.absolute(np.subtract(a, b)))  # NaN of equal infinities
    more = np.where(a == b, a.dtype.type(math.log(2)), np.log1p(np.exp(less)))
    return np.add(np.maximum(a, b), more)


_real("logaddexp", in_single(_logaddexp))
_real("logaddexp2", np.logaddexp2)


@kernel("complex")
def complex_(real: Any, imag: Any) -> Any:
    """Complex numbers of their parts."""
    spec = rule_of("complex")(real, imag)
    data = np.empty(spec.shape, NUMPY_OF[spec.dtype])
    data.real = real.raw_data
    data.imag = imag.raw_data
    return laid_as(data, spec)
