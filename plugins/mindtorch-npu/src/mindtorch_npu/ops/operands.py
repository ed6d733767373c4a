"""Operands of operators: results, casts, numbers, tensors seen in other shapes.

Functions that need an operator for this append it to the list of calls that they are given.
"""

from __future__ import annotations

import math
from typing import Any, Final

from mindtorch_core.backend import (
    BOOL,
    COMPLEX,
    DTYPES,
    FLOATING,
    Shape,
    Tensor,
    cast_number,
    checked_number,
    contiguous_strides,
    device,
    dtype,
    float32,
    is_contiguous,
    make_tensor,
    storage_extent,
)

from ..aclnn import Scalar
from ..runtime import RUNTIME
from .steps import MOST_DIMS, Call, accepts, inputs, takes_strides

__all__ = [
    "apart",
    "cast",
    "computed_in",
    "contiguous",
    "element",
    "empty",
    "expanded",
    "factor",
    "filled",
    "flat",
    "is_zero",
    "made",
    "number",
    "operand",
    "packed",
    "parts",
    "ranked",
    "reshaped",
    "seen",
    "takes",
    "transposed",
    "written",
]

# Dtypes that hold every value of another one, nearest first: an op that keeps within them may be
# computed there.
_WIDER: Final[dict[dtype, tuple[dtype, ...]]] = {
    DTYPES[narrow]: tuple(DTYPES[wide] for wide in wider.split())
    for narrow, wider in {
        "bool": "uint8 int32 int64 float32",
        "uint8": "int16 int32 int64 float32",
        "int8": "int16 int32 int64 float32",
        "int16": "int32 int64 float32",
        "int32": "int64",
        "float16": "float32",
        "bfloat16": "float32",
    }.items()
}


def computed_in(operator: str, d: dtype, parameter: str = "", *, result: str = "") -> dtype | None:
    """The dtype in which an operator computes for a dtype: its own or a wider one; None for none.

    Args:
        operator: the operator.
        d: the dtype.
        parameter: the input that decides, the first one by default.
        result: a result that is to have the same dtype.
    """
    at = parameter or inputs(operator)[0]
    for each in (d, *_WIDER.get(d, ())):
        if accepts(operator, at, each) and (not result or accepts(operator, result, each)):
            return each
    return None


def takes(operator: str, d: dtype, parameter: str = "") -> bool:
    """Whether an operator computes in a dtype, which its first input decides unless told otherwise."""
    return accepts(operator, parameter or inputs(operator)[0], d)


# ---- making tensors ------------------------------------------------------------------------------


def empty(shape: Shape, d: dtype, on: device) -> Tensor:
    """A row-major tensor with undefined elements."""
    return RUNTIME.empty(shape, None, d, on)


def made(spec: Any, on: device) -> Tensor:
    """A tensor of a spec's shape, dtype and strides, with undefined elements."""
    return RUNTIME.empty(spec.shape, spec.strides, spec.dtype, on)


def is_zero(value: Any) -> bool:
    """Whether a number is zero bits only; -0.0 is not."""
    return value == 0 and not isinstance(value, complex) and math.copysign(1.0, value) > 0


def filled(shape: Shape, value: Any, d: dtype, on: device, calls: list[Call]) -> Tensor:
    """A tensor of one number."""
    out = empty(shape, d, on)
    if is_zero(value):
        calls.append(("InplaceZero", (out,)))
    else:
        calls.append(("InplaceFillScalar", (out, number(value, d))))
    return out


def written(out: Tensor, value: Tensor, calls: list[Call]) -> Tensor:
    """Have a computed value written into a result, unless it is the result itself."""
    if value is not out:
        calls.append(("InplaceCopy", (out, value)))
    return out


# ---- dtypes and numbers --------------------------------------------------------------------------


def cast(t: Tensor, d: dtype, calls: list[Call]) -> Tensor:
    """A tensor in a dtype."""
    if t.raw_dtype is d:
        return t
    out = empty(t.raw_shape, d, t.raw_device)
    if out.untyped_storage().size_bytes:
        if t.raw_dtype.category == COMPLEX and d.category != COMPLEX:
            calls.append(("InplaceCopy", (out, t)))
        else:
            calls.append(("Cast", (t, d, out)))
    return out


def number(value: Any, d: dtype) -> Any:
    """A Python number as an operator gets it that computes in a dtype.

    Numbers of 64 bits become scalars of their own accord; others are rounded to the dtype first, as a
    tensor of it would be.
    """
    exact = cast_number(value, d)
    if d.category == BOOL:
        return bool(exact)
    if d.category == FLOATING:
        return Scalar(float(exact), d) if d.itemsize < 4 else float(exact)
    if d.category == COMPLEX:
        return complex(exact)
    whole = int(exact)
    return whole if whole < 1 << 63 else Scalar(whole, d)


def factor(value: Any, d: dtype) -> Any:
    """A Python number that operators take in float32, where halves are computed in that."""
    halves = d.category == FLOATING and d.itemsize < 4
    return float(cast_number(value, float32)) if halves else number(value, d)


def element(value: Any, d: dtype) -> Any:
    """A Python number that becomes an element, as an operator gets it.

    Raises:
        RuntimeError: if the dtype cannot hold it.
    """
    return number(checked_number(value, d), d)


def operand(value: Any, d: dtype, on: device, calls: list[Call]) -> Tensor:
    """A tensor or a number as a tensor of a dtype."""
    if isinstance(value, Tensor):
        return cast(value, d, calls)
    return filled((), value, d, on, calls)


# ---- layouts -------------------------------------------------------------------------------------


def seen(t: Tensor, shape: Shape, strides: Shape, offset: int) -> Tensor:
    """A tensor's memory in another layout."""
    storage = t.untyped_storage()
    data = RUNTIME.payload(storage, shape, strides, offset, t.raw_dtype)
    return make_tensor(
        data, shape, t.raw_dtype, t.raw_device, RUNTIME.key, storage, (strides, offset)
    )


def flat(t: Tensor) -> bool:
    """Whether a tensor's elements lie row by row without gaps."""
    return t.raw_layout is None or is_contiguous(t.raw_shape, t.raw_layout[0])


def contiguous(t: Tensor, calls: list[Call]) -> Tensor:
    """A tensor whose elements lie row by row."""
    if flat(t):
        return t
    out = empty(t.raw_shape, t.raw_dtype, t.raw_device)
    calls.append(("InplaceCopy", (out, t)))
    return out


def packed(operator: str, parameter: str, t: Tensor, calls: list[Call]) -> Tensor:
    """A tensor as an operator takes it: row by row, if strided ones are not documented for it."""
    return t if takes_strides(operator, parameter) else contiguous(t, calls)


def reshaped(t: Tensor, shape: Shape) -> Tensor:
    """A tensor that lies row by row in another shape."""
    return seen(t, shape, contiguous_strides(shape), t.raw_geometry()[1])


def ranked(t: Tensor) -> Tensor:
    """A tensor with a dimension at least."""
    return t if t.raw_shape else seen(t, (1,), (1,), t.raw_geometry()[1])


def transposed(t: Tensor) -> Tensor:
    """A tensor with its last two dimensions exchanged."""
    strides, offset = t.raw_geometry()
    shape = t.raw_shape
    return seen(
        t, (*shape[:-2], shape[-1], shape[-2]), (*strides[:-2], strides[-1], strides[-2]), offset
    )


def expanded(t: Tensor, shape: Shape) -> Tensor:
    """A tensor broadcast to a shape."""
    if t.raw_shape == shape:
        return t
    strides, offset = t.raw_geometry()
    lead = len(shape) - len(t.raw_shape)
    steps = (0,) * lead + tuple(
        0 if own == 1 and shape[lead + i] != 1 else strides[i] for i, own in enumerate(t.raw_shape)
    )
    return seen(t, shape, steps, offset)


def apart(t: Any, target: Tensor) -> bool:
    """Whether an operand may be read while an operator writes the target.

    It may if it is in other memory, or consists of the same elements.
    """
    if not isinstance(t, Tensor) or t is target:
        return True
    if t.untyped_storage() is not target.untyped_storage():
        return True
    if t.raw_shape == target.raw_shape and t.raw_geometry() == target.raw_geometry():
        return True
    (mine, first), (others, start) = t.raw_geometry(), target.raw_geometry()
    ends = storage_extent(t.raw_shape, mine, first), storage_extent(target.raw_shape, others, start)
    return ends[0] <= start or ends[1] <= first


# ---- many dimensions -----------------------------------------------------------------------------


def parts(*tensors: Tensor) -> list[tuple[Tensor, ...]]:
    """Views of tensors of one shape that together show all elements, in as few dimensions as needed.

    Dimensions that lie alike in all tensors become one; if too many are left, the first are walked.
    """
    layouts = [t.raw_geometry() for t in tensors]
    merged = _merged(tensors[0].raw_shape, [strides for strides, _ in layouts])
    sizes = tuple(size for size, _ in merged)
    views = tuple(
        seen(t, sizes, tuple(strides[i] for _, strides in merged), offset)
        for i, (t, (_, offset)) in enumerate(zip(tensors, layouts, strict=True))
    )
    if len(sizes) <= MOST_DIMS:
        return [views]
    rows = (tuple(_row(view, i) for view in views) for i in range(sizes[0]))
    return [part for row in rows for part in parts(*row)]


def _merged(shape: Shape, strides: list[Shape]) -> list[tuple[int, tuple[int, ...]]]:
    """Sizes and strides of the fewest dimensions that show the same elements."""
    found: list[tuple[int, tuple[int, ...]]] = []
    for size, *inner in zip(shape, *strides, strict=True):
        if size == 1 and found:
            continue
        if found and all(
            outer == step * size for outer, step in zip(found[-1][1], inner, strict=True)
        ):
            found[-1] = found[-1][0] * size, tuple(inner)
        else:
            found.append((size, tuple(inner)))
    return found


def _row(t: Tensor, index: int) -> Tensor:
    strides, offset = t.raw_geometry()
    return seen(t, t.raw_shape[1:], strides[1:], offset + index * strides[0])
