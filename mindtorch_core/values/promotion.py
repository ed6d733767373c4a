"""Type promotion: which dtype two operands meet in. The only place that decides it.

The lattice is PyTorch's: within a category the wider type wins, a higher category wins over a
lower one, and operands are ranked so that a Python number or a zero-dimensional tensor never
widens within its category (``int32_tensor + 1`` stays int32; ``int32_tensor + 1.5`` becomes the
default floating type).
"""

from __future__ import annotations

import functools
from typing import Any, Final

from .dtypes import (
    BOOL,
    COMPLEX,
    DTYPES,
    FLOAT8,
    FLOATING,
    INTEGER,
    bfloat16,
    bool_,
    complex128,
    default_complex,
    dtype,
    float16,
    float32,
    get_default_dtype,
    int16,
    of_number,
)
from .shapes import show

__all__ = [
    "WIDER",
    "can_cast",
    "check_cast",
    "check_inplace_result",
    "promote_types",
    "result_type",
]

# What halves are computed in, with one rounding at the end: faster, and sums keep their digits.
WIDER: Final[dict[dtype, dtype]] = {float16: float32, bfloat16: float32}

_CACHE: Final[dict[tuple[dtype, dtype], dtype]] = {}
_NARROW_UNSIGNED: Final = ("uint16", "uint32", "uint64")


def promote_types(a: dtype, b: dtype) -> dtype:
    """Smallest dtype, in size and kind, that both can be converted to.

    Raises:
        RuntimeError: for uint16/32/64 with any other type but floats, which PyTorch does not promote.
    """
    found = _CACHE.get((a, b))
    if found is None:
        found = _CACHE[a, b] = _promote(a, b)
    return found


def _promote(a: dtype, b: dtype) -> dtype:
    if a is b:
        return a
    if a.name in FLOAT8 or b.name in FLOAT8:
        raise RuntimeError(
            f"Promotion for Float8 Types is not supported, attempted to promote {a.label} and {b.label}"
        )
    if (a.name in _NARROW_UNSIGNED or b.name in _NARROW_UNSIGNED) and FLOATING not in (
        a.category,
        b.category,
    ):
        raise RuntimeError(
            f"Promotion for uint16, uint32, uint64 types is not supported, attempted to "
            f"promote {a.label} and {b.label}"
        )
    if a.category > b.category:
        a, b = b, a
    if a.category < b.category:  # the higher category wins, except that precision is kept
        if b.category == COMPLEX and a.category == FLOATING:
            return complex128 if a.name == "float64" else b
        return b
    if a.category == INTEGER:
        if a.itemsize == b.itemsize:  # uint8 with int8
            return int16
        return a if a.itemsize > b.itemsize else b
    if {a, b} == {float16, bfloat16}:
        return float32
    return a if a.itemsize >= b.itemsize else b


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a result of dtype ``from_`` may be stored in ``to`` (category never goes down)."""
    return from_.category <= to.category or (from_.category == INTEGER and to.category == INTEGER)


def check_cast(d: dtype, to: dtype) -> None:
    """Refuse a dtype whose category is above the one that it would be stored in.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if not can_cast(d, to):
        raise RuntimeError(
            f"result type {d.label} can't be cast to the desired output type {to.label}"
        )


def check_inplace_result(self: Any, shape: tuple[int, ...], d: Any) -> None:
    """Refuse an in-place result that does not fit into ``self``.

    Raises:
        RuntimeError: if the broadcast shape or the promoted dtype is not ``self``'s.
    """
    if shape != self._shape:
        raise RuntimeError(
            f"output with shape {show(self._shape)} doesn't match the broadcast shape {show(shape)}"
        )
    check_cast(d, self._dtype)


def _default_for(category: int, current: dtype) -> dtype:
    """The dtype a Python number of a higher category brings in."""
    if category == COMPLEX:
        if current.category == FLOATING:
            return current.to_complex()
        return default_complex()
    if category == FLOATING:
        return get_default_dtype()
    return DTYPES["int64"]


_OF_NUMBERS: Final[dict[type[Any], int]] = {bool: BOOL, int: INTEGER, float: FLOATING}


def category_of(value: Any) -> int:
    """Promotion category of a Python number."""
    found = _OF_NUMBERS.get(type(value))
    return of_number(value).category if found is None else found


def result_type(*operands: Any) -> dtype:
    """Dtype in which tensors and Python numbers meet, as ``torch.result_type`` gives it.

    Operands with dimensions decide first; a zero-dimensional tensor, then a number, changes the
    result only when it is of a higher category. ``None`` operands are ignored.
    """
    own: dtype | None = getattr(operands[0], "_dtype", None)
    if own is not None:  # most often a tensor and numbers that change nothing
        most = own.category
        for x in operands[1:]:
            if x is not None and _OF_NUMBERS.get(x.__class__, COMPLEX + 1) > most:
                break
        else:
            return own
    dims: dtype | None = None
    zero: dtype | None = None
    numbers: list[Any] = []
    for x in operands:
        d = getattr(x, "_dtype", None)
        if d is None:
            if x is not None:
                numbers.append(x)
        elif x._shape:
            dims = d if dims is None else promote_types(dims, d)
        else:
            zero = d if zero is None else promote_types(zero, d)
    if dims is None:
        result = zero
    elif zero is None or zero.category <= dims.category:
        result = dims
    elif zero.category == COMPLEX:
        result = dims.to_complex() if dims.category == FLOATING else zero
    else:
        result = promote_types(dims, zero)
    if numbers:
        if result is None:
            return functools.reduce(promote_types, map(of_number, numbers))
        top = max(category_of(v) for v in numbers)
        if top > result.category:
            if top == INTEGER and max(numbers) >= 1 << 63:  # beside booleans: a number of uint64
                promote_types(result, DTYPES["uint64"])
            result = _default_for(top, result)
    return bool_ if result is None else result


def check_alpha(alpha: Any, d: dtype, name: str = "alpha") -> None:
    """Refuse a factor of a higher category than the result of ``add``, ``sub`` or ``addr``.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    category = category_of(alpha)
    if category == BOOL and d.category != BOOL:
        raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    if category >= FLOATING and d.category < FLOATING:
        raise RuntimeError(
            f"For integral input tensors, argument {name} must not be a floating point number."
        )
    if category == COMPLEX and d.category != COMPLEX:
        raise RuntimeError(
            f"For non-complex input tensors, argument {name} must not be a complex number."
        )


def to_floating(d: dtype) -> dtype:
    """The dtype of a float-valued function of ``d``: integers become the default dtype."""
    return d if d.category >= FLOATING else get_default_dtype()
