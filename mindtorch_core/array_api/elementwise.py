"""Elementwise functions of the array API standard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from .operands import together

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
]

# A number beside a tensor, as one overload of the function takes it: no tensor is made for it.
_TAKES_NUMBERS: Final = frozenset(
    (
        "add",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "div",
        "eq",
        "ge",
        "gt",
        "le",
        "lt",
        "mul",
        "ne",
        "pow",
        "sub",
    )
)


def _shown(function: Callable[..., Tensor], name: str, doc: str) -> Callable[..., Tensor]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _of_one(name: str, doc: str, op: str = "") -> Callable[[Tensor], Tensor]:
    """The function of one tensor that an op computes, called by the standard's name."""
    op = op or name

    def function(x: Tensor, /) -> Tensor:
        result: Tensor = getattr(fn, op)(x)
        return result

    return _shown(function, name, doc)


def _of_two(name: str, doc: str, op: str = "") -> Callable[[Any, Any], Tensor]:
    """The function of two operands that an op computes, called in the dtype that they meet in."""
    op = op or name
    numbers = op in _TAKES_NUMBERS

    def function(x1: Any, x2: Any, /) -> Tensor:
        first, second = together(name, x1, x2, numbers=numbers)
        result: Tensor = getattr(fn, op)(first, second)
        return result

    return _shown(function, name, doc)


abs = _of_one("abs", "Absolute value; of a complex element its modulus, which is real.")
acos = _of_one("acos", "Inverse cosine.")
acosh = _of_one("acosh", "Inverse hyperbolic cosine.")
asin = _of_one("asin", "Inverse sine.")
asinh = _of_one("asinh", "Inverse hyperbolic sine.")
atan = _of_one("atan", "Inverse tangent.")
atanh = _of_one("atanh", "Inverse hyperbolic tangent.")
bitwise_invert = _of_one("bitwise_invert", "Each bit inverted.", "bitwise_not")
ceil = _of_one("ceil", "The least integer that is not less.")
cos = _of_one("cos", "Cosine.")
cosh = _of_one("cosh", "Hyperbolic cosine.")
exp = _of_one("exp", "e to the power of the elements.")
floor = _of_one("floor", "The greatest integer that is not greater.")
isfinite = _of_one("isfinite", "Whether elements are neither infinite nor NaN.")
isinf = _of_one("isinf", "Whether elements are infinite.")
isnan = _of_one("isnan", "Whether elements are NaN.")
log = _of_one("log", "Natural logarithm.")
log1p = _of_one("log1p", "``log(1 + x)``, exact near zero.")
log2 = _of_one("log2", "Logarithm to base 2.")
log10 = _of_one("log10", "Logarithm to base 10.")
logical_not = _of_one("logical_not", "Logical negation.")
negative = _of_one("negative", "The elements with the other sign.")
positive = _of_one("positive", "The elements as they are.")
reciprocal = _of_one("reciprocal", "One divided by the elements.")
signbit = _of_one("signbit", "Whether the sign bit is set, that of a zero and a NaN too.")
sin = _of_one("sin", "Sine.")
sinh = _of_one("sinh", "Hyperbolic sine.")
sqrt = _of_one("sqrt", "Square root.")
square = _of_one("square", "The elements times themselves.")
tan = _of_one("tan", "Tangent.")
trunc = _of_one("trunc", "The nearest integer towards zero.")

add = _of_two("add", "Sum.")
atan2 = _of_two("atan2", "Angle of the point (x2, x1), from -pi to pi.")
bitwise_and = _of_two("bitwise_and", "Bitwise and, or logical of booleans.")
bitwise_left_shift = _of_two("bitwise_left_shift", "Bits of x1 moved up by x2 places.")
bitwise_or = _of_two("bitwise_or", "Bitwise or, or logical of booleans.")
bitwise_right_shift = _of_two("bitwise_right_shift", "Bits of x1 moved down by x2 places.")
bitwise_xor = _of_two("bitwise_xor", "Bitwise exclusive or, or logical of booleans.")
copysign = _of_two("copysign", "The magnitude of x1 with the sign of x2.")
divide = _of_two("divide", "Quotient.", "div")
equal = _of_two("equal", "Whether elements are equal.", "eq")
greater = _of_two("greater", "Whether x1 is greater than x2.", "gt")
greater_equal = _of_two("greater_equal", "Whether x1 is not less than x2.", "ge")
hypot = _of_two("hypot", "Hypotenuse of a right triangle with these legs.")
less = _of_two("less", "Whether x1 is less than x2.", "lt")
less_equal = _of_two("less_equal", "Whether x1 is not greater than x2.", "le")
logaddexp = _of_two("logaddexp", "``log(exp(x1) + exp(x2))``, without overflow.")
logical_and = _of_two("logical_and", "Logical and.")
logical_or = _of_two("logical_or", "Logical or.")
logical_xor = _of_two("logical_xor", "Logical exclusive or.")
maximum = _of_two("maximum", "The greater of two elements; NaN if one is.")
minimum = _of_two("minimum", "The less of two elements; NaN if one is.")
multiply = _of_two("multiply", "Product.", "mul")
nextafter = _of_two("nextafter", "The next number after x1 in the direction of x2.")
not_equal = _of_two("not_equal", "Whether elements differ.", "ne")
pow = _of_two("pow", "x1 to the power of x2.")
subtract = _of_two("subtract", "Difference.", "sub")


def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """The elements of x, not less than ``min`` and not greater than ``max``.

    Args:
        x: a real tensor.
        min: a tensor that broadcasts with x, a number, or None for no bound.
        max: the same, for the other end.

    Returns:
        A new tensor; NaN where an element or one of its bounds is.
    """
    result = x
    if min is not None:
        result = maximum(result, min)
    if max is not None:
        result = minimum(result, max)
    return result.clone() if result is x else result


def conj(x: Tensor, /) -> Tensor:
    """Complex conjugate, in memory of its own, which other libraries can read; a real tensor as it is."""
    return fn.conj_physical(x)


def expm1(x: Tensor, /) -> Tensor:
    """``exp(x) - 1``, exact near zero.

    Where a complex element is not finite, the standard has what follows from `exp`; NumPy and PyTorch
    give NaN.
    """
    if not x.is_complex():
        return fn.expm1(x)
    result = fn.where(fn.isfinite(x), fn.expm1(x), fn.exp(x) - 1)
    return fn.complex(fn.real(result) + 0.0, fn.imag(result))  # no real part is -0


def floor_divide(x1: Any, x2: Any, /) -> Tensor:
    """Quotient rounded down.

    Where one operand is infinite, it is the quotient of the two rounded down, as the standard has it;
    NumPy and PyTorch give NaN or -1.
    """
    first, second = together("floor_divide", x1, x2)
    result = fn.floor_divide(first, second)
    if not first.is_floating_point():
        return result
    infinite = fn.isinf(first) | fn.isinf(second)
    return fn.where(infinite, fn.floor(fn.div(first, second)), result)


def imag(x: Tensor, /) -> Tensor:
    """Imaginary part; zeros for a real tensor."""
    return fn.imag(x) if x.is_complex() else fn.zeros_like(x)


def real(x: Tensor, /) -> Tensor:
    """Real part; a real tensor as it is."""
    return fn.real(x)


def remainder(x1: Any, x2: Any, /) -> Tensor:
    """What is left by floor division; its sign is that of x2, also where nothing is left."""
    first, second = together("remainder", x1, x2)
    result = fn.remainder(first, second)
    if not first.is_floating_point():
        return result
    wrong = (result == 0) & (fn.signbit(result) != fn.signbit(second))
    return fn.where(wrong, -result, result)


def round(x: Tensor, /) -> Tensor:
    """The nearest integer, the even one of two; of a complex element, by its two parts."""
    if x.is_complex():
        return fn.complex(fn.round(fn.real(x)), fn.round(fn.imag(x)))
    return fn.round(x)


def sign(x: Tensor, /) -> Tensor:
    """-1, 0 or 1, and NaN for NaN; of a complex element, itself divided by its modulus."""
    if x.is_complex():
        return fn.sgn(x)
    if x.is_floating_point():  # PyTorch's gives 0 for NaN
        return fn.where(fn.isnan(x), x, fn.sign(x))
    return fn.sign(x)


def tanh(x: Tensor, /) -> Tensor:
    """Hyperbolic tangent.

    Where the real part of a complex element is infinite, the imaginary part is a zero with the sign of
    the element's, as the standard has it; in NumPy and PyTorch its sign alternates.
    """
    result = fn.tanh(x)
    if not x.is_complex():
        return result
    real, imag = fn.real(x), fn.imag(x)
    limit = fn.complex(
        fn.copysign(fn.ones_like(real), real), fn.copysign(fn.zeros_like(imag), imag)
    )
    return fn.where(fn.isinf(real), limit, result)
