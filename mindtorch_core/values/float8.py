"""The five floating formats of 8 bits: which number each byte is, and which byte a number becomes.

They are for storage: nothing is computed in them. Source: the OCP formats of 8-bit floats and of scales
("OFP8", "OCP MX"); where PyTorch 2.13 rounds or saturates in a way of its own, as it does.
"""

from __future__ import annotations

import math
import struct
from bisect import bisect_left
from functools import cache
from typing import Final, NamedTuple

__all__ = ["FORMATS", "Format", "decoded", "encoded"]


class Format(NamedTuple):
    """A format.

    Attributes:
        mantissa: explicit bits of the mantissa; what is left of 7 (or of 8 without sign) is the exponent.
        bias: of the exponent.
        infinite: whether it has infinities.
        nan: the byte that numbers out of range become, and NaN; with ``infinite`` only the latter.
        saturates: whether they become the largest instead.
        zero_signed: whether there is a negative zero.
        signed: whether there are negative numbers.
    """

    mantissa: int
    bias: int
    infinite: bool = False
    nan: int = 0x7F
    saturates: bool = False
    zero_signed: bool = True
    signed: bool = True


FORMATS: Final[dict[str, Format]] = {
    "float8_e4m3fn": Format(3, 7, saturates=True),
    "float8_e5m2": Format(2, 15, infinite=True),
    "float8_e4m3fnuz": Format(3, 8, nan=0x80, zero_signed=False),
    "float8_e5m2fnuz": Format(2, 16, nan=0x80, zero_signed=False),
    "float8_e8m0fnu": Format(0, 127, nan=0xFF, signed=False),
}


def _value(form: Format, byte: int) -> float:
    """The number that a byte is."""
    bits = byte & 0x7F if form.signed else byte
    sign = -1.0 if form.signed and byte & 0x80 else 1.0
    exponent, fraction = bits >> form.mantissa, bits & ((1 << form.mantissa) - 1)
    if not form.signed:
        return math.nan if byte == form.nan else math.ldexp(1.0, exponent - form.bias)
    if byte == form.nan or (form.zero_signed and not form.infinite and bits == form.nan):
        return math.nan
    if form.infinite and exponent == 31:
        return math.nan if fraction else sign * math.inf
    scale = 1 - form.bias - form.mantissa
    if not exponent:
        return sign * math.ldexp(fraction, scale)
    return sign * math.ldexp(fraction + (1 << form.mantissa), scale + exponent - 1)


@cache
def decoded(name: str) -> tuple[float, ...]:
    """The numbers that the bytes 0 to 255 are."""
    return tuple(_value(FORMATS[name], byte) for byte in range(256))


@cache
def _positive(name: str) -> tuple[float, ...]:
    """The finite numbers that are not negative, in their order, which is that of their bytes."""
    numbers = decoded(name)[: 128 if FORMATS[name].signed else 256]
    return tuple(v for v in numbers if math.isfinite(v))


def encoded(value: float, name: str) -> int:
    """The byte that a number becomes, rounded to nearest, ties to even, after rounding to float32."""
    form = FORMATS[name]
    try:
        value = struct.unpack("=f", struct.pack("=f", value))[0]
    except OverflowError:
        value = math.copysign(math.inf, value)
    if value != value:
        return form.nan
    size, numbers = abs(value), _positive(name)
    top = len(numbers) - 1
    sign = 0x80 if form.signed and math.copysign(1.0, value) < 0 else 0
    at = bisect_left(numbers, size)
    if at <= top and numbers[at] == size:
        code = at
    elif at == 0:
        code = 0
    else:
        below = numbers[at - 1]
        above = numbers[at] if at <= top else 2 * below - numbers[at - 2]
        if not form.signed and at > top:
            above = 2 * below
        middle = (below + above) / 2
        up_on_tie = (at - 1) % 2 == 1 or not form.signed
        code = at if size > middle or (size == middle and up_on_tie) else at - 1
    if code > top:
        if form.saturates:
            code = top
        elif not form.infinite:
            return form.nan
    if not code and not form.zero_signed:
        return 0
    return sign | code
