"""Reductions and normalisations of the elements that a mask selects.

Each is the op without mask, after what is masked out has been replaced by a value that does not change
the result. Where nothing is selected that value is the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dtypes import COMPLEX, FLOATING, bool_, dtype, float32, iinfo, int64
from ..shapes import wrap_dim, wrap_dims
from ..tensor import Tensor
from .define import fn, fn_linalg, op

_INF, _NAN = float("inf"), float("nan")
_REDUCED = "int[1]? dim=None, *, bool? keepdim=False, ScalarType? dtype=None, Tensor? mask=None"
_ALONG = "int dim, *, ScalarType? dtype=None, Tensor? mask=None"


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


def _masked(name: str, arguments: str, doc: str, composed: Callable[..., Any]) -> None:
    op(
        f"_masked_{name}(Tensor input, {arguments}) -> Tensor",
        doc=f"{doc} of the elements that ``mask`` selects.",
        decomposition=composed,
        namespaces=(f"masked:{name}",),
    )


# ---- sums, products, extremes -------------------------------------------------------------------


def _total_dtype(input: Tensor, wanted: dtype | None) -> dtype:
    return wanted or (int64 if input._dtype.category < FLOATING else input._dtype)


def _sum(
    input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None
) -> Any:
    filled = _filled(input, mask, 0)
    return filled.sum(_dims(dim, input) or None, bool(keepdim), dtype=_total_dtype(input, dtype))


def _prod(
    input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None
) -> Any:
    found = _filled(input, mask, 1).to(_total_dtype(input, dtype))
    for d in reversed(_dims(dim, input)):
        found = found.prod(d, bool(keepdim))
    return found


_masked("sum", _REDUCED, "Sum", _sum)
_masked("prod", _REDUCED, "Product", _prod)


def _cumulative(name: str, neutral: int) -> Callable[..., Any]:
    def composed(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
        return getattr(fn, name)(_filled(input, mask, neutral), dim, dtype=dtype or input._dtype)

    return composed


_masked("cumsum", _ALONG, "Cumulative sum", _cumulative("cumsum", 0))
_masked("cumprod", _ALONG, "Cumulative product", _cumulative("cumprod", 1))


def _extreme(name: str, neutral: Callable[[dtype], Any]) -> Callable[..., Any]:
    def composed(
        input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None
    ) -> Any:
        filled = _filled(input, mask, neutral(input._dtype))
        return getattr(fn, name)(filled, _dims(dim, input), bool(keepdim)).to(dtype or input._dtype)

    return composed


def _place(name: str, neutral: Callable[[dtype], Any]) -> Callable[..., Any]:
    def composed(
        input: Any,
        dim: int | None = None,
        *,
        keepdim: Any = False,
        dtype: Any = None,
        mask: Any = None,
    ) -> Any:
        filled = _filled(input, mask, neutral(input._dtype))
        return getattr(fn, name)(filled, dim, bool(keepdim)).to(dtype or input._dtype)

    return composed


_masked("amax", _REDUCED, "Largest", _extreme("amax", _lowest))
_masked("amin", _REDUCED, "Smallest", _extreme("amin", _highest))
_PLACE = _REDUCED.replace("int[1]? dim", "int? dim")
_masked(
    "argmax", _PLACE, "Position (in the input's dtype) of the largest", _place("argmax", _lowest)
)
_masked(
    "argmin", _PLACE, "Position (in the input's dtype) of the smallest", _place("argmin", _highest)
)

# ---- statistics ---------------------------------------------------------------------------------


def _count(input: Any, dim: Any, keepdim: bool, mask: Any) -> Any:
    """How many elements are selected."""
    return full_mask(input, mask).sum(_dims(dim, input) or None, keepdim)


def _mean(
    input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None
) -> Any:
    d = dtype or input._dtype
    if d.category < FLOATING:
        raise ValueError(
            f"mean(): Could not infer output dtype. {'Input' if dtype is None else 'Optional'} dtype "
            f"must be either a floating point or complex dtype. Got: {d}"
        )
    total = _sum(input, dim, keepdim=keepdim, dtype=d, mask=mask)
    return total / _count(input, dim, bool(keepdim), mask)


def _median(
    input: Any, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    if input._dtype.category == FLOATING:
        return fn.nanmedian(_filled(input, mask, _NAN), dim, keepdim)[0]
    found = fn.nanmedian(_filled(input.to(float32), mask, _NAN), dim, keepdim)[0]
    if bool(found.isnan().any()):
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not floating point"
        )
    return found.to(dtype or input._dtype)


def _norm(
    input: Any,
    ord: Any = 2.0,
    dim: Any = None,
    *,
    keepdim: Any = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    order = 2.0 if ord is None else ord
    filled = _filled(input, mask, _INF if order == -_INF else 0)
    return fn_linalg.vector_norm(
        filled, order, _dims(dim, input), bool(keepdim), dtype=dtype or input._dtype
    )


def _spread(root: bool) -> Callable[..., Any]:
    def composed(
        input: Any,
        dim: Any = None,
        unbiased: bool | None = None,
        *,
        correction: Any = None,
        keepdim: Any = False,
        dtype: Any = None,
        mask: Any = None,
    ) -> Any:
        if unbiased is not None and correction is not None:
            raise AssertionError("Only one of unbiased and correction may be given")
        lost = correction if correction is not None else 1.0 if unbiased in (None, True) else 0.0
        d = dtype or (input._dtype if input._dtype.category >= FLOATING else float32)
        wide = d if d.category >= FLOATING else float32
        mean = _sum(input, dim, keepdim=True, dtype=d, mask=mask) / _count(input, dim, True, mask)
        gap = input - mean
        squares = gap * gap.conj() if gap._dtype.category == COMPLEX else gap * gap
        total = _sum(squares, dim, keepdim=keepdim, dtype=wide, mask=mask)
        count = _count(input, dim, bool(keepdim), mask)
        if lost:
            count = (count.to(wide.to_real()) - lost).clamp(min=0)
        found = (total / count).to(d)
        return found.sqrt() if root else found

    return composed


_masked("mean", _REDUCED, "Mean", _mean)
_masked(
    "median",
    "int dim=-1, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None",
    "Median along a dimension",
    _median,
)
_masked("norm", "Scalar? ord=2.0, " + _REDUCED, "The ``ord``-norm", _norm)
_SPREAD = (
    "int[1]? dim=None, bool? unbiased=None, *, Scalar? correction=None, bool? keepdim=False, "
    "ScalarType? dtype=None, Tensor? mask=None"
)
_masked("var", _SPREAD, "Variance", _spread(False))
_masked("std", _SPREAD, "Standard deviation", _spread(True))

# ---- exponentials -------------------------------------------------------------------------------


def _logsumexp(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    filled = _filled(input, mask, _lowest(input._dtype))
    return fn.logsumexp(filled, _dims(dim, input), bool(keepdim)).to(dtype or input._dtype)


def _logaddexp(
    input: Any, other: Any, *, dtype: Any = None, input_mask: Any = None, other_mask: Any = None
) -> Any:
    a = _filled(input, input_mask, -_INF)
    b = _filled(other, other_mask, -_INF)
    return fn.logaddexp(a, b).to(dtype or input._dtype)


_masked("logsumexp", _REDUCED, "Logarithm of the sum of exponentials", _logsumexp)
_masked(
    "logaddexp",
    "Tensor other, *, ScalarType? dtype=None, Tensor? input_mask=None, Tensor? other_mask=None",
    "``log(exp(input) + exp(other))``, element by element,",
    _logaddexp,
)


def _softmax(name: str, sign: int) -> Callable[..., Any]:
    def composed(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
        neutral = _lowest(input._dtype) if sign > 0 else _highest(input._dtype)
        filled = _filled(input, mask, neutral)
        at = wrap_dim(dim, len(input._shape))
        d = dtype or input._dtype
        return getattr(fn, name)(filled if sign > 0 else -filled, at, dtype=d)

    return composed


_masked("softmax", _ALONG, "`softmax` along a dimension", _softmax("softmax", 1))
_masked("log_softmax", _ALONG, "`log_softmax` along a dimension", _softmax("log_softmax", 1))
_masked("softmin", _ALONG, "`softmin` along a dimension", _softmax("softmax", -1))


def _normalize(
    input: Any, ord: Any, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None
) -> Any:
    norm = _norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _filled(input, mask, 0) / fn.maximum(norm, norm.new_full((), eps))


_masked(
    "normalize",
    "Scalar ord, int dim, *, float eps=1e-12, ScalarType? dtype=None, Tensor? mask=None",
    "Vectors along a dimension divided by the norm (at least ``eps``)",
    _normalize,
)
