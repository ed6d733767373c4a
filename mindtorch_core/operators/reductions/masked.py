"""Reductions and normalisations of the elements that a mask selects.

Each is the op without mask, after what is masked out has been replaced by a value that does not change
the result. Where nothing is selected that value is the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dispatch.functions import fn, fn_linalg
from ...opdefs.define import public
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, FLOATING, bool_, dtype, float32, iinfo, int64
from ...values.layouts import strided
from ...values.shapes import wrap_dim, wrap_dims

__all__ = ["full_mask"]

_INF, _NAN = float("inf"), float("nan")


def full_mask(input: Tensor, mask: Tensor | None) -> Tensor:
    """The mask in the shape of the input; all true if there is none.

    Raises:
        IndexError: if the mask has more dimensions than the input.
    """
    if mask is None:
        return fn.ones_like(input, dtype=bool_)
    if len(mask._shape) > len(input._shape):
        raise IndexError(
            f"the mask must be broadcastable to the input, but it has {len(mask._shape)} dimensions and "
            f"the input {len(input._shape)}"
        )
    mask = mask if mask.layout is strided else mask.to_dense()
    whole = mask if mask._dtype is bool_ else mask != 0
    return whole.expand(input._shape)


def _filled(input: Any, mask: Tensor | None, value: Any) -> Any:
    """The input with another value where the mask does not hold."""
    return input if mask is None else fn.where(full_mask(input, mask), input, value)


def _lowest(d: dtype) -> Any:
    return -_INF if d.category >= FLOATING else 0 if d is bool_ else iinfo(d).min


def _highest(d: dtype) -> Any:
    return _INF if d.category >= FLOATING else 1 if d is bool_ else iinfo(d).max


def _dims(dim: Any, input: Tensor) -> list[int]:
    return sorted(wrap_dims(dim, len(input._shape)))


def _one_dim(dim: Any, input: Tensor) -> int:
    """What a function of one dimension works along: as in PyTorch the first of several, or of all."""
    if isinstance(dim, int):
        return wrap_dim(dim, len(input._shape))
    return 0 if dim in (None, ()) else sorted(wrap_dim(d, len(input._shape)) for d in dim)[0]


# ---- sums, products, extremes -------------------------------------------------------------------


def _total_dtype(input: Tensor, wanted: dtype | None) -> dtype:
    return wanted or (int64 if input._dtype.category < FLOATING else input._dtype)


@public("masked")
def sum(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Sum of the elements that ``mask`` selects."""
    filled = _filled(input, mask, 0)
    d = _total_dtype(input, dtype)
    return filled.sum(_dims(dim, input) or None, bool(keepdim), dtype=d)  # type: ignore[no-any-return]


@public("masked")
def prod(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Product of the elements that ``mask`` selects."""
    found = _filled(input, mask, 1).to(_total_dtype(input, dtype))
    dims = _dims(dim, input)
    if not dims and dim not in (None, (), []):  # dimension 0 of a number
        return found.prod()  # type: ignore[no-any-return]
    for d in () if dim == [] else reversed(dims):  # an empty list reduces nothing, as in PyTorch
        found = found.prod(d, bool(keepdim))
    return found  # type: ignore[no-any-return]


@public("masked")
def cumsum(
    input: Tensor,
    dim: int,
    *,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Cumulative sum of the elements that ``mask`` selects."""
    d = dtype or input._dtype
    return fn.cumsum(_filled(input, mask, 0), _one_dim(dim, input), dtype=d)


@public("masked")
def cumprod(
    input: Tensor,
    dim: int,
    *,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Cumulative product of the elements that ``mask`` selects."""
    d = dtype or input._dtype
    return fn.cumprod(_filled(input, mask, 1), _one_dim(dim, input), dtype=d)


@public("masked")
def amax(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Largest of the elements that ``mask`` selects."""
    filled = _filled(input, mask, _lowest(input._dtype))
    return fn.amax(filled, _dims(dim, input), bool(keepdim)).to(dtype or input._dtype)


@public("masked")
def amin(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Smallest of the elements that ``mask`` selects."""
    filled = _filled(input, mask, _highest(input._dtype))
    return fn.amin(filled, _dims(dim, input), bool(keepdim)).to(dtype or input._dtype)


@public("masked")
def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Position, in the input's dtype, of the largest element that ``mask`` selects."""
    filled = _filled(input, mask, _lowest(input._dtype))
    return fn.argmax(filled, dim, bool(keepdim)).to(dtype or input._dtype)


@public("masked")
def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Position, in the input's dtype, of the smallest element that ``mask`` selects."""
    filled = _filled(input, mask, _highest(input._dtype))
    return fn.argmin(filled, dim, bool(keepdim)).to(dtype or input._dtype)


# ---- statistics ---------------------------------------------------------------------------------


def _count(input: Any, dim: Any, keepdim: bool, mask: Any) -> Any:
    """How many elements are selected."""
    return full_mask(input, mask).sum(_dims(dim, input) or None, keepdim)


@public("masked")
def mean(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Mean of the elements that ``mask`` selects."""
    d = dtype or input._dtype
    if d.category < FLOATING:
        raise ValueError(
            f"mean(): Could not infer output dtype. {'Input' if dtype is None else 'Optional'} dtype "
            f"must be either a floating point or complex dtype. Got: {d}"
        )
    total: Any = sum(input, dim, keepdim=keepdim, dtype=d, mask=mask)
    return total / _count(input, dim, bool(keepdim), mask)  # type: ignore[no-any-return]


@public("masked")
def median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Median along a dimension of the elements that ``mask`` selects."""
    dim = _one_dim(dim, input)
    if input._dtype.category == FLOATING:
        return fn.nanmedian(_filled(input, mask, _NAN), dim, keepdim)[0]
    found = fn.nanmedian(_filled(input.to(float32), mask, _NAN), dim, keepdim)[0]
    if bool(found.isnan().any()):
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not floating point"
        )
    return found.to(dtype or input._dtype)


@public("masked")
def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The ``ord``-norm of the elements that ``mask`` selects."""
    order = 2.0 if ord is None else ord
    filled = _filled(input, mask, _INF if order == -_INF else 0)
    return fn_linalg.vector_norm(
        filled, order, _dims(dim, input), bool(keepdim), dtype=dtype or input._dtype
    )


@public("masked")
def var(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Variance of the elements that ``mask`` selects."""
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    lost = correction if correction is not None else 1.0 if unbiased in (None, True) else 0.0
    d = dtype or (input._dtype if input._dtype.category >= FLOATING else float32)
    wide = d if d.category >= FLOATING else float32
    total: Any = sum(input, dim, keepdim=True, dtype=d, mask=mask)
    gap: Any = input - total / _count(input, dim, True, mask)
    squares = gap * gap.conj() if gap._dtype.category == COMPLEX else gap * gap
    total = sum(squares, dim, keepdim=keepdim, dtype=wide, mask=mask)
    count = _count(input, dim, bool(keepdim), mask)
    if lost:
        count = (count.to(wide.to_real()) - lost).clamp(min=0)
    return (total / count).to(d)  # type: ignore[no-any-return]


@public("masked")
def std(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Standard deviation of the elements that ``mask`` selects."""
    found = var(
        input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask
    )
    return found.sqrt()


# ---- exponentials -------------------------------------------------------------------------------


@public("masked")
def logsumexp(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Logarithm of the sum of exponentials of the elements that ``mask`` selects."""
    filled = _filled(input, mask, _lowest(input._dtype))
    return fn.logsumexp(filled, _dims(dim, input), bool(keepdim)).to(dtype or input._dtype)


@public("masked")
def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: dtype | None = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """``log(exp(input) + exp(other))``, element by element, of what the masks select."""
    a = _filled(input, input_mask, _lowest(input._dtype))
    b = _filled(other, other_mask, _lowest(other._dtype))
    if input_mask is None or other_mask is None:
        return fn.logaddexp(a, b).to(dtype or input._dtype)
    # Two infinities have a value, but no gradients: places without operands get theirs afterwards.
    either = full_mask(input, input_mask) | full_mask(other, other_mask)
    sums = fn.logaddexp(fn.where(either, a, 0), fn.where(either, b, 0))
    return fn.where(either, sums, -_INF).to(dtype or input._dtype)


@public("masked")
def softmax(
    input: Tensor,
    dim: int,
    *,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """`softmax` along a dimension, of the elements that ``mask`` selects."""
    filled = _filled(input, mask, _lowest(input._dtype))
    return fn.softmax(filled, _one_dim(dim, input), dtype=dtype or input._dtype)


@public("masked")
def log_softmax(
    input: Tensor,
    dim: int,
    *,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """`log_softmax` along a dimension, of the elements that ``mask`` selects."""
    filled = _filled(input, mask, _lowest(input._dtype))
    return fn.log_softmax(filled, _one_dim(dim, input), dtype=dtype or input._dtype)


@public("masked")
def softmin(
    input: Tensor,
    dim: int,
    *,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """`softmin` along a dimension, of the elements that ``mask`` selects."""
    filled = -_filled(input, mask, _highest(input._dtype))
    return fn.softmax(filled, _one_dim(dim, input), dtype=dtype or input._dtype)


@public("masked")
def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Vectors along a dimension divided by the norm of what ``mask`` selects (at least ``eps``)."""
    size: Any = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    floor = size.new_full((), eps)
    return _filled(input, mask, 0) / fn.maximum(size, floor)  # type: ignore[no-any-return]
