"""Pages on functions that work element by element."""

from __future__ import annotations

from typing import Final

__all__ = ["PAGES"]

_OUT: Final = "    out: where the result is written, instead of into new memory.\n"
_ONE: Final = """\
Args:
    input: a tensor of any shape{kinds}
{out}
Returns:
    A tensor of the shape of ``input``{result}

Example:
{example}
"""
_TWO: Final = """\
Args:
    input: a tensor of any shape{kinds}
    other: a tensor whose shape broadcasts with that of ``input``, or a number.
    out: where the result is written, instead of into new memory.

Returns:
    A tensor of the shape that both broadcast to{result}

Raises:
    RuntimeError: if the shapes do not broadcast.

Example:
{example}
"""
_FLOATING: Final = "; of whole numbers and bools, in the default dtype."
_TRUTH: Final = ", of dtype bool."
_PROMOTED: Final = ", in the dtype that both promote to."


def _example(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.strip().splitlines()).rstrip()


def _one(example: str, result: str = ".", kinds: str = ".", out: str = _OUT) -> str:
    return _ONE.format(example=_example(example), result=result, kinds=kinds, out=out)


def _two(example: str, result: str = _PROMOTED, kinds: str = ".") -> str:
    return _TWO.format(example=_example(example), result=result, kinds=kinds)


PAGES: Final[dict[str, str]] = {
    "abs": _one(
        ">>> torch.abs(torch.tensor([-1.5, 2.0]))\ntensor([1.5000, 2.0000])",
        "; of complex numbers their lengths, which are real.",
    ),
    "neg": _one(">>> torch.neg(torch.tensor([1, -2]))\ntensor([-1,  2])", kinds=", but not bool."),
    "sign": _one(">>> torch.sign(torch.tensor([-3.0, 0.0, 2.0]))\ntensor([-1.,  0.,  1.])"),
    "exp": _one(">>> torch.exp(torch.tensor([0.0, 1.0]))\ntensor([1.0000, 2.7183])", _FLOATING),
    "expm1": _one(">>> torch.expm1(torch.tensor(0.5))\ntensor(0.6487)", _FLOATING),
    "log": _one(
        ">>> torch.log(torch.tensor([1.0, 0.0, -1.0]))\ntensor([0., -inf, nan])", _FLOATING
    ),
    "log1p": _one(">>> torch.log1p(torch.tensor([0.0, 1.0]))\ntensor([0.0000, 0.6931])", _FLOATING),
    "sqrt": _one(">>> torch.sqrt(torch.tensor([4, 9]))\ntensor([2., 3.])", _FLOATING),
    "rsqrt": _one(
        ">>> torch.rsqrt(torch.tensor([4.0, 16.0]))\ntensor([0.5000, 0.2500])", _FLOATING
    ),
    "reciprocal": _one(
        ">>> torch.reciprocal(torch.tensor([2, 4]))\ntensor([0.5000, 0.2500])", _FLOATING
    ),
    "sin": _one(">>> torch.sin(torch.tensor([0.0, torch.pi / 2]))\ntensor([0., 1.])", _FLOATING),
    "cos": _one(">>> torch.cos(torch.tensor([0.0, torch.pi]))\ntensor([ 1., -1.])", _FLOATING),
    "tanh": _one(">>> torch.tanh(torch.tensor([0.0, 1.0]))\ntensor([0.0000, 0.7616])", _FLOATING),
    "sigmoid": _one(
        ">>> torch.sigmoid(torch.tensor([0.0, 2.0]))\ntensor([0.5000, 0.8808])", _FLOATING
    ),
    "relu": """\
Args:
    input: a tensor of any shape, real and not bool.
    out: where the result is written, instead of into new memory.

Returns:
    A tensor of the shape and dtype of ``input``.

Example:
    >>> torch.relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
""",
    "floor": _one(
        ">>> torch.floor(torch.tensor([1.7, -1.2]))\ntensor([ 1., -2.])", kinds=", real."
    ),
    "ceil": _one(">>> torch.ceil(torch.tensor([1.2, -1.7]))\ntensor([ 2., -1.])", kinds=", real."),
    "isnan": _one(
        ">>> torch.isnan(torch.tensor([1.0, torch.nan]))\ntensor([False,  True])", _TRUTH, out=""
    ),
    "isinf": _one(
        ">>> torch.isinf(torch.tensor([1.0, -torch.inf]))\ntensor([False,  True])", _TRUTH, out=""
    ),
    "isfinite": _one(
        ">>> torch.isfinite(torch.tensor([1.0, torch.inf]))\ntensor([ True, False])", _TRUTH, out=""
    ),
    "logical_not": _one(
        ">>> torch.logical_not(torch.tensor([0, 3]))\ntensor([ True, False])", _TRUTH
    ),
    "round": """\
Args:
    input: a tensor of any shape, real.
    decimals: places after the point, before it if negative.
    out: where the result is written, instead of into new memory.

Returns:
    A tensor of the shape of ``input``; halves go to the even neighbour.

Example:
    >>> torch.round(torch.tensor([0.5, 1.5, 2.4]))
    tensor([0., 2., 2.])
    >>> torch.round(torch.tensor([3.14159]), decimals=2)
    tensor([3.1400])
""",
    "clamp": """\
Args:
    input: a tensor of any shape, real.
    min: a lower bound: a number, or a tensor that broadcasts with ``input``; None for none.
    max: an upper bound, likewise; where it is below ``min``, it is the result.
    out: where the result is written, instead of into new memory.

Returns:
    A tensor of the shape that all broadcast to, in the dtype that they promote to.

Raises:
    RuntimeError: if both bounds are None.

Example:
    >>> torch.clamp(torch.tensor([-2.0, 0.5, 9.0]), 0, 1)
    tensor([0.0000, 0.5000, 1.0000])
""",
    "nan_to_num": """\
Args:
    input: a tensor of any shape.
    nan: what stands for NaN; 0 by default.
    posinf: what stands for infinity; by default the largest number of the dtype.
    neginf: what stands for minus infinity; by default the smallest.
    out: where the result is written, instead of into new memory.

Returns:
    A tensor of the shape and dtype of ``input``.

Example:
    >>> torch.nan_to_num(torch.tensor([torch.nan, torch.inf, 1.0]), posinf=9.0)
    tensor([0., 9., 1.])
""",
    "add": """\
Args:
    input: a tensor of any shape.
    other: a tensor whose shape broadcasts with that of ``input``, or a number.
    alpha: what ``other`` is multiplied with first.
    out: where the result is written, instead of into new memory.

Returns:
    A tensor of the shape that both broadcast to, in the dtype that both promote to.

Raises:
    RuntimeError: if the shapes do not broadcast, or ``alpha`` is a fraction and the result is not.

Example:
    >>> torch.add(torch.tensor([1, 2]), torch.tensor([[10], [20]]), alpha=2)
    tensor([[21, 22],
            [41, 42]])
""",
    "sub": """\
Args:
    input: a tensor of any shape, not bool.
    other: a tensor whose shape broadcasts with that of ``input``, or a number; not bool.
    alpha: what ``other`` is multiplied with first.
    out: where the result is written, instead of into new memory.

Returns:
    A tensor of the shape that both broadcast to, in the dtype that both promote to.

Raises:
    RuntimeError: for bools, and if the shapes do not broadcast.

Example:
    >>> torch.sub(torch.tensor([3, 4]), 1)
    tensor([2, 3])
""",
    "mul": _two(">>> torch.mul(torch.tensor([1, 2]), 2.5)\ntensor([2.5000, 5.0000])"),
    "div": """\
Args:
    input: a tensor of any shape.
    other: a tensor whose shape broadcasts with that of ``input``, or a number.
    rounding_mode: None for the true quotient, ``"trunc"`` to round it towards 0, ``"floor"`` down.
    out: where the result is written, instead of into new memory.

Returns:
    A tensor of the shape that both broadcast to. True quotients of whole numbers are in the default
    dtype.

Raises:
    RuntimeError: if the shapes do not broadcast, for another rounding mode, and for whole numbers by 0
        if the quotient is rounded.

Example:
    >>> torch.div(torch.tensor([7, -7]), 2)
    tensor([ 3.5000, -3.5000])
    >>> torch.div(torch.tensor([7, -7]), 2, rounding_mode="floor")
    tensor([ 3, -4])
""",
    "pow": """\
Args:
    input: the base: a tensor of any shape, or a number.
    exponent: a tensor whose shape broadcasts with that of the base, or a number; one of both is a
        tensor.
    out: where the result is written, instead of into new memory.

Returns:
    A tensor of the shape that both broadcast to, in the dtype that both promote to.

Raises:
    RuntimeError: if the shapes do not broadcast, or for whole numbers to a negative number.

Example:
    >>> torch.pow(torch.tensor([1.0, 2.0, 3.0]), 2)
    tensor([1., 4., 9.])
    >>> torch.pow(2, torch.tensor([1, 2, 3]))
    tensor([2, 4, 8])
""",
    "remainder": _two(">>> torch.remainder(torch.tensor([-3.0, 3.0]), 2)\ntensor([1., 1.])"),
    "fmod": _two(">>> torch.fmod(torch.tensor([-3.0, 3.0]), 2)\ntensor([-1.,  1.])"),
    "eq": _two(">>> torch.eq(torch.tensor([1, 2]), 2)\ntensor([False,  True])", _TRUTH),
    "ne": _two(">>> torch.ne(torch.tensor([1, 2]), 2)\ntensor([ True, False])", _TRUTH),
    "lt": _two(">>> torch.lt(torch.tensor([1, 2]), 2)\ntensor([ True, False])", _TRUTH, ", real."),
    "le": _two(">>> torch.le(torch.tensor([1, 3]), 2)\ntensor([ True, False])", _TRUTH, ", real."),
    "gt": _two(">>> torch.gt(torch.tensor([1, 3]), 2)\ntensor([False,  True])", _TRUTH, ", real."),
    "ge": _two(">>> torch.ge(torch.tensor([1, 2]), 2)\ntensor([False,  True])", _TRUTH, ", real."),
    "maximum": """\
Args:
    input: a tensor of any shape, real.
    other: a tensor whose shape broadcasts with that of ``input``. It is no number: `clamp` takes one.
    out: where the result is written, instead of into new memory.

Returns:
    A tensor of the shape that both broadcast to; NaN where one of both is.

Raises:
    RuntimeError: if the shapes do not broadcast.
    NotImplementedError: for complex numbers.

Example:
    >>> torch.maximum(torch.tensor([1, 5]), torch.tensor([3, 2]))
    tensor([3, 5])
""",
    "minimum": """\
Args:
    input: a tensor of any shape, real.
    other: a tensor whose shape broadcasts with that of ``input``. It is no number: `clamp` takes one.
    out: where the result is written, instead of into new memory.

Returns:
    A tensor of the shape that both broadcast to; NaN where one of both is.

Raises:
    RuntimeError: if the shapes do not broadcast.
    NotImplementedError: for complex numbers.

Example:
    >>> torch.minimum(torch.tensor([1, 5]), torch.tensor([3, 2]))
    tensor([1, 2])
""",
    "where": """\
Args:
    condition: a tensor of bools.
    input: what is taken where it is true: a tensor, or a number.
    other: what is taken elsewhere, likewise. All three broadcast. Without these two the positions of
        what is true are given, as by ``nonzero(condition, as_tuple=True)``.
    out: where the result is written, instead of into new memory.

Returns:
    A tensor of the shape that all broadcast to, in the dtype that both values promote to.

Raises:
    RuntimeError: if the shapes do not broadcast, or the condition is not of bools.

Example:
    >>> x = torch.tensor([-1.0, 2.0])
    >>> torch.where(x > 0, x, 0.0)
    tensor([0., 2.])
""",
    "allclose": """\
Args:
    input: a tensor.
    other: a tensor of the same dtype, whose shape broadcasts with that of ``input``.
    rtol: how far they may be apart, as a share of ``other``.
    atol: how far they may be apart besides.
    equal_nan: whether NaN is close to NaN.

Returns:
    A bool of Python's: whether ``abs(input - other) <= atol + rtol * abs(other)`` everywhere.

Raises:
    RuntimeError: if dtypes differ, or shapes do not broadcast.

Example:
    >>> torch.allclose(torch.tensor([1.0]), torch.tensor([1.0 + 1e-7]))
    True
""",
    "lerp": """\
Args:
    input: where it starts: a tensor of any shape, of floats or complex numbers.
    end: where it ends: a tensor of the same dtype, whose shape broadcasts with that of ``input``.
    weight: how far to go, 0 at the start and 1 at the end: a number, or a tensor that broadcasts.
    out: where the result is written, instead of into new memory.

Returns:
    ``input + weight * (end - input)``, of the shape that all broadcast to.

Raises:
    RuntimeError: if dtypes differ, or shapes do not broadcast.

Example:
    >>> torch.lerp(torch.tensor([0.0, 10.0]), torch.tensor([1.0, 20.0]), 0.5)
    tensor([ 0.5000, 15.0000])
""",
    "isclose": """\
Args:
    input: a tensor.
    other: another one of the same dtype, whose shape broadcasts with it.
    rtol: the difference that is allowed, as a share of ``abs(other)``.
    atol: what is allowed besides.
    equal_nan: whether NaN is close to NaN.

Returns:
    A tensor of bools, in the common shape.

Raises:
    RuntimeError: if the dtypes differ or the shapes do not broadcast.

Example:
    >>> torch.isclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]))
    tensor([ True, False])
""",
    "logical_and": """\
Args:
    input: a tensor of any dtype; what is not 0 is true.
    other: another one, whose shape broadcasts with it.
    out: where the result is written, instead of into new memory.

Returns:
    A tensor of bools: where both are true.

Raises:
    RuntimeError: if the shapes do not broadcast.

Example:
    >>> torch.logical_and(torch.tensor([1, 2, 0]), torch.tensor([1.0, 0.0, 0.0]))
    tensor([ True, False, False])
""",
    "logical_or": """\
Args:
    input: a tensor of any dtype; what is not 0 is true.
    other: another one, whose shape broadcasts with it.
    out: where the result is written, instead of into new memory.

Returns:
    A tensor of bools: where either is true.

Raises:
    RuntimeError: if the shapes do not broadcast.

Example:
    >>> torch.logical_or(torch.tensor([1, 2, 0]), torch.tensor([1.0, 0.0, 0.0]))
    tensor([ True,  True, False])
""",
    "square": _one(">>> torch.square(torch.tensor([-3, 2]))\ntensor([9, 4])"),
    "log2": _one(">>> torch.log2(torch.tensor([1.0, 8.0]))\ntensor([0., 3.])", _FLOATING),
    "log10": _one(">>> torch.log10(torch.tensor([1.0, 10.0]))\ntensor([0., 1.])", _FLOATING),
    "erf": _one(">>> torch.erf(torch.tensor([0.0, 1.0]))\ntensor([0.0000, 0.8427])", _FLOATING),
    "tan": _one(">>> torch.tan(torch.tensor([0.0, 1.0]))\ntensor([0.0000, 1.5574])", _FLOATING),
    "trunc": _one(">>> torch.trunc(torch.tensor([-1.5, 1.5]))\ntensor([-1.,  1.])"),
    "bitwise_not": _one(
        ">>> torch.bitwise_not(torch.tensor([0, 5]))\ntensor([-1, -6])",
        kinds=" of whole numbers or bools.",
    ),
    "bitwise_and": _two(
        ">>> torch.bitwise_and(torch.tensor([6, 5]), 3)\ntensor([2, 1])",
        kinds=" of whole numbers or bools.",
    ),
    "bitwise_or": _two(
        ">>> torch.bitwise_or(torch.tensor([6, 5]), 3)\ntensor([7, 7])",
        kinds=" of whole numbers or bools.",
    ),
    "floor_divide": _two(
        ">>> torch.floor_divide(torch.tensor([7, -7]), 2)\ntensor([ 3, -4])",
    ),
}
