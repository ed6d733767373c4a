"""Element types: their names, sizes, categories and bit patterns.

The core holds no numbers of its own, but it must read and write single elements for ``item()``,
``tolist()``, printing and ``torch.tensor([...])``. `pack` and `unpack` do that with the
standard library alone.
"""

from __future__ import annotations

import functools
import math
import struct
from array import array
from collections.abc import Callable, Iterable
from numbers import Complex, Integral, Real
from typing import Any, Final, Self

from .float8 import FORMATS, decoded, encoded

__all__ = [
    "BEFORE_DEFAULT",
    "DTYPES",
    "FLOAT8",
    "INDEX_DTYPES",
    "bfloat16",
    "bool_",
    "complex64",
    "complex128",
    "dtype",
    "exact_integers",
    "finfo",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float16",
    "float32",
    "float64",
    "get_default_dtype",
    "iinfo",
    "int8",
    "int16",
    "int32",
    "int64",
    "set_default_dtype",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

BOOL: Final = 0
INTEGER: Final = 1
FLOATING: Final = 2
COMPLEX: Final = 3


class dtype:
    """An element type.

    Instances are singletons: compare them with ``is``.

    Attributes:
        name: canonical name, such as ``float32``.
        itemsize: bytes per element.
        category: 0 bool, 1 integer, 2 floating, 3 complex; promotion goes upwards.
        code: the `struct` format character, or None where `struct` has none (bfloat16, complex).
        is_floating_point, is_complex, is_signed: as in PyTorch.
    """

    __slots__ = (
        "category", "code", "index", "is_complex", "is_floating_point", "is_signed", "itemsize",
        "label", "name",
    )  # fmt: skip

    def __new__(cls, *args: Any) -> Self:
        """One of those below: users make none."""
        if len(args) == 1:
            raise TypeError(f"cannot create 'torch.dtype' instances: {args[0]} is torch.{args[0]}")
        return super().__new__(cls)

    def __init__(
        self, name: str, label: str, itemsize: int, category: int, code: str | None, index: int
    ) -> None:
        self.name = name
        self.label = label
        self.itemsize = itemsize
        self.category = category
        self.code = code
        self.index = index
        self.is_floating_point = category == FLOATING
        self.is_complex = category == COMPLEX
        self.is_signed = category >= FLOATING or (category == INTEGER and not name.startswith("u"))

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        # where it is found: here, or in `torch`, of which a drop-in's classes say that they are
        return "bool_" if self.name == "bool" and type(self).__module__ == __name__ else self.name

    def __copy__(self) -> dtype:
        return self

    def __deepcopy__(self, memo: object) -> dtype:
        return self

    def to_real(self) -> dtype:
        """The real type of the same precision (complex64 gives float32)."""
        real = {"complex32": float16, "complex64": float32, "complex128": float64}
        return real.get(self.name, self)

    def to_complex(self) -> dtype:
        """The complex type of the same precision; RuntimeError if there is none, as of integers."""
        if self.category < FLOATING or self.itemsize < 2:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.label}")
        if self.category == COMPLEX:
            return self
        return complex128 if self.name == "float64" else complex64


# `label` is the name PyTorch's messages use ("Float", "Long").
uint8 = dtype("uint8", "Byte", 1, INTEGER, "B", 0)
int8 = dtype("int8", "Char", 1, INTEGER, "b", 1)
int16 = dtype("int16", "Short", 2, INTEGER, "h", 2)
int32 = dtype("int32", "Int", 4, INTEGER, "i", 3)
int64 = dtype("int64", "Long", 8, INTEGER, "q", 4)
float16 = dtype("float16", "Half", 2, FLOATING, "e", 5)
float32 = dtype("float32", "Float", 4, FLOATING, "f", 6)
float64 = dtype("float64", "Double", 8, FLOATING, "d", 7)
complex64 = dtype("complex64", "ComplexFloat", 8, COMPLEX, None, 9)
complex128 = dtype("complex128", "ComplexDouble", 16, COMPLEX, None, 10)
bool_ = dtype("bool", "Bool", 1, BOOL, "?", 11)
bfloat16 = dtype("bfloat16", "BFloat16", 2, FLOATING, None, 15)
uint16 = dtype("uint16", "UInt16", 2, INTEGER, "H", 27)
uint32 = dtype("uint32", "UInt32", 4, INTEGER, "I", 28)
uint64 = dtype("uint64", "UInt64", 8, INTEGER, "Q", 29)

# For storage and conversions alone: nothing is computed in them, and no op is asked for them.
float8_e5m2 = dtype("float8_e5m2", "Float8_e5m2", 1, FLOATING, None, 23)
float8_e4m3fn = dtype("float8_e4m3fn", "Float8_e4m3fn", 1, FLOATING, None, 24)
float8_e5m2fnuz = dtype("float8_e5m2fnuz", "Float8_e5m2fnuz", 1, FLOATING, None, 25)
float8_e4m3fnuz = dtype("float8_e4m3fnuz", "Float8_e4m3fnuz", 1, FLOATING, None, 26)
float8_e8m0fnu = dtype("float8_e8m0fnu", "Float8_e8m0fnu", 1, FLOATING, None, 44)
float8_e8m0fnu.is_signed = False
FLOAT8: Final[dict[str, dtype]] = {
    d.name: d
    for d in (float8_e5m2, float8_e4m3fn, float8_e5m2fnuz, float8_e4m3fnuz, float8_e8m0fnu)
}

# What positions along a dimension may be given in.
INDEX_DTYPES: Final = (int32, int64)

DTYPES: Final[dict[str, dtype]] = {
    d.name: d
    for d in (
        uint8, int8, int16, int32, int64, float16, float32, float64, complex64, complex128,
        bool_, bfloat16, uint16, uint32, uint64,
    )
}  # fmt: skip

# Other spellings that PyTorch's users know.
ALIASES: Final[dict[str, dtype]] = {
    "half": float16,
    "float": float32,
    "double": float64,
    "short": int16,
    "int": int32,
    "long": int64,
    "cfloat": complex64,
    "cdouble": complex128,
    "bool": bool_,
}

DEFAULT: Final[list[dtype]] = [float32]  # the default floating type
# Called before the default changes: what was put off, or remembered by other things alone, depends on it.
BEFORE_DEFAULT: Final[list[Callable[[], None]]] = []


def get_default_dtype() -> dtype:
    """The floating type of ``torch.tensor([1.5])`` and of factories without ``dtype``.

    Example:
        >>> torch.get_default_dtype()
        torch.float32
    """
    return DEFAULT[0]


def set_default_dtype(d: dtype) -> None:
    """Set the default floating type.

    Args:
        d: ``torch.float32``, or another one of floats.

    Raises:
        TypeError: if ``d`` is not a floating-point dtype.

    Example:
        >>> torch.set_default_dtype(torch.float64)
        >>> torch.tensor(1.5).dtype
        torch.float64
        >>> torch.set_default_dtype(torch.float32)
    """
    if isinstance(d, dtype) and d.name in FLOAT8:  # type: ignore[redundant-expr]
        raise TypeError(
            f"couldn't find storage object {d.label}Storage: nothing is computed in {d}"
        )
    if not (isinstance(d, dtype) and d.is_floating_point):  # type: ignore[redundant-expr]
        raise TypeError(f"only floating-point types are supported as the default type, got {d!r}")
    if d is not DEFAULT[0]:
        for prepare in BEFORE_DEFAULT:
            prepare()
        DEFAULT[0] = d


def default_complex() -> dtype:
    """The complex type that matches the default floating type."""
    return DEFAULT[0].to_complex()


_FROM_PYTHON: Final[dict[type, dtype]] = {bool: bool_, int: int64}

# Python's types that stand for a dtype wherever one is expected.
PYTHON_TYPES: Final[dict[object, dtype]] = {
    bool: bool_, int: int64, float: float64, complex: complex128,
}  # fmt: skip


def as_dtype(value: Any, called: str, name: str = "dtype", position: int | None = None) -> dtype:
    """A dtype, or what one of Python's types stands for.

    Args:
        value: the argument.
        called: the function it was given to.
        name: the argument's name.
        position: where it stands in the call, if it is not a keyword.

    Raises:
        TypeError: if it is neither.
    """
    found = PYTHON_TYPES.get(value) if isinstance(value, type) else value
    if not isinstance(found, dtype):
        place = f" (position {position})" if position else ""
        raise TypeError(
            f"{called}(): argument '{name}'{place} must be torch.dtype, not {type(value).__name__}"
        )
    return found


def of_number(value: Any) -> dtype:
    """Element type that ``torch.tensor(value)`` gives a Python number."""
    found = _FROM_PYTHON.get(type(value))
    if found is not None:
        return found
    if isinstance(value, Integral):
        return int64
    if isinstance(value, Complex) and not isinstance(value, Real):
        return default_complex()
    return DEFAULT[0]


# ---- single elements <-> bytes -------------------------------------------------------------

_ARRAY_CODES: Final = {"B", "b", "h", "i", "q", "f", "d", "H", "I", "Q"}


def _bfloat16_bits(value: float) -> int:
    """Round a float to bfloat16, to nearest even, and return its 16 bits."""
    try:
        bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    except OverflowError:
        return 0x7F80 if value > 0 else 0xFF80
    if value != value:
        return 0x7FC0
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) & 0xFFFF


def _saturate(code: str, value: float) -> bytes:
    """Pack one float, turning what overflows its format into an infinity."""
    try:
        return struct.pack("=" + code, value)
    except OverflowError:
        return struct.pack("=" + code, float("inf") if value > 0 else float("-inf"))


@functools.cache
def _largest(d: dtype) -> float:
    return finfo(d).max


def checked_number(value: Any, d: dtype) -> Any:
    """A Python number that is to become an element of ``d``, as the kind of number ``d`` holds.

    Negative integers wrap in unsigned types, as in C; fractions are cut off in integer ones.

    Raises:
        RuntimeError: if it does not fit; the text gives the number.
    """
    if d.category == BOOL:
        return bool(value)
    if d.category == COMPLEX:
        return value
    number = value.real if isinstance(value, complex) else value
    if number == value:
        infinite = abs(number) == math.inf
        if d.category == FLOATING:
            if infinite or abs(number) <= _largest(d):
                return number
        elif not infinite:
            whole = int(number)
            bits = d.itemsize * 8 - d.is_signed
            wraps = not d.is_signed and isinstance(number, int)
            low = -(1 << bits) + 1 if wraps else -(1 << bits) if d.is_signed else 0
            if low <= whole < 1 << bits:
                return whole % (1 << bits) if wraps else whole
    elif number != number and d.category == FLOATING:
        return number
    raise RuntimeError(f"value cannot be converted to type {d.name} without overflow: {value}")


def cast_number(value: Any, d: dtype) -> Any:
    """A Python number as an operand in ``d``: in arithmetic what fits 64 bits always does.

    Integers wrap around and floats become infinite, as a tensor of the number's own dtype does
    when it is converted.

    Raises:
        OverflowError: for an integer that no dtype holds, in PyTorch's words.
    """
    try:
        return checked_number(value, d)
    except RuntimeError:
        if d.category == FLOATING:
            return unpack(pack([value], d), d)[0]
    bits = d.itemsize * 8
    if not -(1 << 63) <= value < 1 << 64:
        negative = value < 0
        raise OverflowError(
            "can't convert negative int to unsigned" if negative else "int too big to convert"
        )
    whole = int(value) % (1 << bits)
    return whole - (1 << bits) if d.is_signed and whole >> (bits - 1) else whole


def pack(values: Iterable[Any], d: dtype) -> bytes:
    """Encode Python numbers as elements of ``d`` in native byte order.

    Raises:
        RuntimeError: if an integer does not fit, as in PyTorch.
        TypeError: if a value is not a number.
    """
    if d.category == BOOL:
        return bytes([1 if v else 0 for v in values])
    if d.category == COMPLEX:
        code = "f" if d is complex64 else "d"
        flat: list[float] = []
        for v in values:
            c = complex(v)
            flat += (c.real, c.imag)
        return array(code, flat).tobytes()
    if d.name in FLOAT8:
        return bytes([encoded(float(v), d.name) for v in values])
    if d is bfloat16:
        return array("H", [_bfloat16_bits(float(v)) for v in values]).tobytes()
    code = d.code or ""
    if d.category == FLOATING:
        if d is float64:
            return array("d", [float(v) for v in values]).tobytes()
        return b"".join([_saturate(code, float(v)) for v in values])
    kept = list(values)
    try:
        return array(code, [int(v) for v in kept]).tobytes()
    except (OverflowError, ValueError):
        pass  # what Python says of it is no more than the number says below
    return array(code, [checked_number(v, d) for v in kept]).tobytes()


def unpack(buffer: bytes | memoryview, d: dtype) -> list[Any]:
    """Decode native-order elements of ``d`` into Python numbers; the inverse of `pack`."""
    raw = bytes(buffer)
    count = len(raw) // d.itemsize
    if d.category == BOOL:
        return [b != 0 for b in raw]
    if d.category == COMPLEX:
        parts = array("f" if d is complex64 else "d")
        parts.frombytes(raw)
        return [complex(parts[i], parts[i + 1]) for i in range(0, 2 * count, 2)]
    if d.name in FLOAT8:
        numbers = decoded(d.name)
        return [numbers[byte] for byte in raw]
    if d is bfloat16:
        halves = array("H")
        halves.frombytes(raw)
        return list(struct.unpack(f"={count}f", array("I", [h << 16 for h in halves]).tobytes()))
    code = d.code or ""
    if code in _ARRAY_CODES:
        elements = array(code)
        elements.frombytes(raw)
        return elements.tolist()
    return list(struct.unpack(f"={count}{code}", raw))


# ---- limits ---------------------------------------------------------------------------------

_FLOAT_LAYOUT: Final[dict[str, tuple[int, int]]] = {
    # name: (explicit mantissa bits, largest exponent); IEEE 754 and the bfloat16 format
    "float16": (10, 15),
    "bfloat16": (7, 127),
    "float32": (23, 127),
    "float64": (52, 1023),
}


class finfo:
    """Numerical limits of a floating-point dtype: eps, max, min, tiny, smallest_normal, bits.

    Args:
        type: a dtype of floats or complex numbers; the default dtype by default.

    Raises:
        TypeError: for another one.

    Example:
        >>> torch.finfo(torch.float32).eps, torch.finfo(torch.bfloat16).max
        (1.1920928955078125e-07, 3.3895313892515355e+38)
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    def __init__(self, type: dtype | None = None) -> None:
        d = (DEFAULT[0] if type is None else as_dtype(type, "finfo", "type", 1)).to_real()
        self.dtype = d.name
        self.bits = d.itemsize * 8
        form = FORMATS.get(d.name)
        if form is not None:
            mantissa = form.mantissa
            self.max = max(v for v in decoded(d.name) if math.isfinite(v))
            self.min = -self.max if form.signed else decoded(d.name)[0]
            self.tiny = 2.0 ** (1 - form.bias) if form.signed else self.min
        elif d.name in _FLOAT_LAYOUT:
            mantissa, exponent = _FLOAT_LAYOUT[d.name]
            self.max = (2.0 - 2.0**-mantissa) * 2.0**exponent
            self.min = -self.max
            self.tiny = 2.0 ** (1 - exponent)
        else:
            raise TypeError(f"torch.finfo() requires a floating point input type, got {d!r}")
        self.smallest_normal = self.tiny
        self.eps = 0.125 if d is float8_e5m2fnuz else 2.0**-mantissa  # that one as PyTorch has it
        digits = int(mantissa * 0.30102999566398120)
        self.resolution = 10.0**-digits

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


class iinfo:
    """Limits of an integer dtype: min, max, bits.

    Args:
        type: a dtype of whole numbers.

    Raises:
        TypeError: for another one.

    Example:
        >>> torch.iinfo(torch.int8).max
        127
    """

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, type: dtype) -> None:
        if not isinstance(type, dtype):
            raise TypeError(
                f"iinfo(): argument 'type' (position 1) must be torch.dtype, not {type.__class__.__name__}"
            )
        if type.category != INTEGER:
            raise TypeError(f"torch.iinfo() requires an integer input type, got {type!r}")
        self.dtype = type.name
        self.bits = type.itemsize * 8
        self.max = (1 << (self.bits - type.is_signed)) - 1
        self.min = -self.max - 1 if type.is_signed else 0

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


def exact_integers(d: dtype) -> int:
    """The largest integer up to which a dtype holds all of them."""
    if d.category >= FLOATING:
        return 1 << {"float16": 11, "bfloat16": 8, "float32": 24}.get(d.name, 53)
    return 1 if d is bool_ else int(iinfo(d).max)
