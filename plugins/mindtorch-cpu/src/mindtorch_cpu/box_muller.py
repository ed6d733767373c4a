"""Normal numbers from uniform ones, in blocks of 16, step by step as PyTorch's vectors compute them.

Of a block, the first eight numbers give radii and the others angles (Box and Muller, 1958). In float32 the
logarithm, sine and cosine are those of the Cephes library (Moshier, 1989) with fused multiplications: each
step of `_fused` rounds once.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from .compiled import computed
from .fused import fused_double, fused_single
from .libm import exact

__all__ = ["BLOCK", "blocks", "put_standard"]

BLOCK: Final = 16
_LOG: Final = np.array(
    [7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
     -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1], np.float32,
).astype(np.float64)  # fmt: skip
# Of the cosine and, below, the sine.
_COS_SIN: Final = np.array(
    [[2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2],
     [-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1]], np.float32,
).astype(np.float64).T[:, :, None]  # fmt: skip
_ROOT_HALF: Final = 0x3F3504F3  # the bits of the root of 1/2
# A quarter of pi in three parts, of which multiples of the first two are exact.
_QUARTER: Final = tuple(
    np.float32(part) for part in (0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8)
)
_single: Final = np.float32


def _fused(x: Any, y: Any, z: Any, out: Any, single: Any) -> None:
    """Write ``x * y + z`` into ``out``, and the same as float32 into ``single``.

    All are float32 numbers, those of ``x``, ``y`` and ``out`` kept as float64: operands of one dtype cost
    half. Products are exact. A sum that two roundings take elsewhere than one is met once in 10**9 times.
    """
    np.multiply(x, y, out)
    np.add(out, z, out)
    single[...] = out
    out[...] = single


def _polynomial(x: Any, coefficients: Any, out: Any, single: Any) -> None:
    """Write a polynomial by Horner's rule as `_fused` does, highest power first."""
    _fused(x, coefficients[0], coefficients[1], out, single)
    for c in coefficients[2:]:
        _fused(out, x, c, out, single)


def _log(a: Any) -> Any:
    """Natural logarithms of float32 numbers from (0, 1]."""
    bits = a.view(np.int32)
    exponent = bits - _ROOT_HALF
    exponent >>= 23
    f = (bits - (exponent << 23)).view(np.float32)  # from the root of 1/2 up to that of 2
    f -= _single(1)
    e = exponent.astype(np.float32)
    room, y = np.empty(a.size), np.empty_like(a)
    _polynomial(f.astype(np.float64), _LOG, room, y)
    y *= f
    room[...] = y
    z = f * f
    _fused(room, z.astype(np.float64), e * _single(-2.12194440e-4), room, y)
    z *= _single(0.5)
    y -= z
    y += f
    e *= _single(0.693359375)  # exact
    y += e
    return y


def _cos_sin(angle: Any) -> Any:
    """Cosines and sines of float32 numbers from [0, 2 pi], one above the other."""
    octant = (angle * _single(1.27323954473516)).astype(np.int32)
    octant += 1
    octant &= ~1
    j = octant.astype(np.float32)
    angle -= j * _QUARTER[0]
    angle -= j * _QUARTER[1]
    # Factors and what is added last, for the cosine and below for the sine.
    factor, room = np.empty((2, angle.size)), np.empty((2, angle.size))
    last, made = (np.empty((2, angle.size), np.float32) for _ in range(2))
    z, r = last
    _fused(octant.astype(np.float64), -np.float64(_QUARTER[2]), angle, room[0], r)
    np.multiply(r, r, z)
    factor[...] = z
    _polynomial(factor, _COS_SIN, room, made)
    made *= z
    room[...] = made
    factor[1] = r
    z *= _single(-0.5)
    _fused(room, factor, last, room, made)
    made[0] += _single(1)
    # Where the octant says so they change places, and signs.
    c, s = made.view(np.int32)
    exchanged = c ^ s
    exchanged &= -((octant >> 1) & 1)
    c ^= exchanged
    s ^= exchanged
    s ^= (octant & 4) << 29
    octant -= 2
    c ^= (~octant & 4) << 29
    return made


def _fused_traced(x: Any, y: Any, z: Any) -> Any:
    """What `_fused` computes, as float32, in a compiled kernel."""
    double = np.float64
    return np.add(np.multiply(x.astype(double), y.astype(double)), z.astype(double)).astype(_single)


def _polynomial_traced(x: Any, coefficients: Any) -> Any:
    found = _fused_traced(x, coefficients[0], coefficients[1])
    for c in coefficients[2:]:
        found = _fused_traced(found, x, c)
    return found


def _log_traced(a: Any) -> Any:
    bits = a.view(np.int32)
    exponent = np.right_shift(np.subtract(bits, np.int32(_ROOT_HALF)), np.int32(23))
    f = np.subtract(bits, np.left_shift(exponent, np.int32(23))).view(_single) - _single(1)
    e, z = exponent.astype(_single), f * f
    y = _polynomial_traced(f, _LOG) * f
    y = _fused_traced(y, z, e * _single(-2.12194440e-4))
    return y - z * _single(0.5) + f + e * _single(0.693359375)


def _cos_sin_traced(angle: Any) -> tuple[Any, Any]:
    octant = (angle * _single(1.27323954473516)).astype(np.int32)
    octant = np.bitwise_and(np.add(octant, np.int32(1)), np.int32(~1))
    j = octant.astype(_single)
    angle = angle - j * _QUARTER[0]
    angle = angle - j * _QUARTER[1]
    r = _fused_traced(j, -np.float64(_QUARTER[2]), angle)
    z = r * r
    cosine, sine = (_polynomial_traced(z, _COS_SIN[:, i, 0]) * z for i in (0, 1))
    cosine = _fused_traced(cosine, z, z * _single(-0.5)) + _single(1)
    sine = _fused_traced(sine, r, r)
    c, s = cosine.view(np.int32), sine.view(np.int32)
    one, four, top = np.int32(1), np.int32(4), np.int32(29)
    odd = np.negative(np.bitwise_and(np.right_shift(octant, one), one))
    exchanged = np.bitwise_and(np.bitwise_xor(c, s), odd)
    c, s = np.bitwise_xor(c, exchanged), np.bitwise_xor(s, exchanged)
    s = np.bitwise_xor(s, np.left_shift(np.bitwise_and(octant, four), top))
    octant = np.invert(np.subtract(octant, np.int32(2)))
    c = np.bitwise_xor(c, np.left_shift(np.bitwise_and(octant, four), top))
    return c.view(_single), s.view(_single)


def _traced(tracer: Any, first: Any, second: Any) -> list[Any]:
    """What a compiled kernel computes of uniform numbers: the same, step by step."""
    radius = np.sqrt(_log_traced(np.subtract(_single(1), first)) * _single(-2))
    return [part * radius for part in _cos_sin_traced(second * _single(2 * math.pi))]


def _traced_standard(tracer: Any, first: Any, second: Any) -> list[Any]:
    """The same without negative zeros."""
    return [part + _single(0) for part in _traced(tracer, first, second)]


def put_standard(uniform: Any, line: Any) -> bool:
    """Whether a compiled kernel wrote standard normal numbers, of whole blocks of dense float32 numbers."""
    given, made = (t.reshape(-1, 2, BLOCK // 2) for t in (uniform, line))
    (first, second), out = ([t[:, 0], t[:, 1]] for t in (given, made))
    return computed("standard normal", _traced_standard, [first, second], out)


def _singles(first: Any, second: Any, mean: float, std: float) -> Any:
    """Two normal numbers each from float32 numbers of [0, 1)."""
    made = np.empty((2, first.size), first.dtype)
    if not computed("normal", _traced, [first, second], [*made]):
        np.subtract(1, first, out=first)
        radius = _log(first)
        radius *= _single(-2)
        np.sqrt(radius, out=radius)
        second *= _single(2 * math.pi)
        made = _cos_sin(second)
        made *= radius
    if mean == 0 and std == 1:
        made += _single(0)  # no negative zeros
        return made
    return fused_single(made, _single(std), _single(mean))


def _doubles(first: Any, second: Any, mean: float, std: float) -> Any:
    """The same in float64."""
    radius = np.sqrt(exact("log")(1 - first) * -2)
    angle = second * (2 * math.pi)
    return [fused_double(radius * exact(name)(angle), std, mean) for name in ("cos", "sin")]


def blocks(line: Any, mean: float, std: float) -> None:
    """Turn uniform numbers into normal ones, in place.

    Args:
        line: whole blocks of float32 or float64 numbers, dense.
        mean: of the normal numbers.
        std: their standard deviation.
    """
    d = line.dtype
    halves = line.view(f"V{d.itemsize * BLOCK // 2}")  # what is copied as a whole is copied fast
    first, second = (halves[i::2].copy().view(d) for i in (0, 1))
    made = (_singles if d == np.float32 else _doubles)(first, second, mean, std)
    for i, part in enumerate(made):
        halves[i::2] = part.view(halves.dtype)
