"""Elements put to positions along a dimension, where several meet: sums, products, means, extremes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...opdefs.formulas import conj
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, FLOATING, INDEX_DTYPES, bool_, int64
from ...values.promotion import WIDER
from ...values.shapes import contiguous_strides, numel, show, wrap_dim
from ...values.user_warnings import warn_user_once
from .gathering import check_range, cropped, fit, grid, ranked, scatter_rule

__all__: list[str] = []

_COMBINED: Final[dict[str, Callable[..., Any]]] = {
    "sum": lambda a, b: a + b,
    "prod": lambda a, b: a * b,
    "mean": lambda a, b: a + b,
    "amax": lambda a, b: fn.maximum(a, b),
    "amin": lambda a, b: fn.minimum(a, b),
    "max": lambda a, b: fn.maximum(a, b),
    "min": lambda a, b: fn.minimum(a, b),
}


def _reduce_rule(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> TensorSpec:
    if reduce not in _COMBINED:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}."
        )
    if reduce[-3:] in ("max", "min") and self._dtype.category == COMPLEX:
        raise NotImplementedError(
            f'"scatter_reduce" with reduce={reduce!r} not implemented for {self._dtype.label!r}: '
            f"complex numbers have no order"
        )
    if reduce == "mean" and self._dtype is bool_:
        raise NotImplementedError(
            "\"scatter_gather_tensor_cpu_reduce_mean\" not implemented for 'Bool'"
        )
    return scatter_rule(self, dim, index, src, name="scatter_reduce")


def _segments(place: Any, values: Any, combine: Callable[..., Any]) -> tuple[Any, Any]:
    """The places that occur, and the values of each combined, in log2(n) steps over sorted places."""
    place, order = fn.sort(place, stable=True)
    values = values.index_select(0, order)
    count, step = numel(place._shape), 1
    while step < count:
        met = place[step:] == place[:-step]
        found = fn.where(met, combine(values[step:], values[:-step]), values[step:])
        values = fn.cat([values[:step], found])
        step *= 2
    last = fn.cat([place[1:] != place[:-1], place[:1] == place[:1]])
    at = last.nonzero().squeeze(1)
    return place.index_select(0, at), values.index_select(0, at)


def _scatter_reduce(
    self: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Any:
    _reduce_rule(self, dim, index, src, reduce)
    if not numel(index._shape):
        return self.clone()
    shape = self._shape
    self, index, src = ranked(self), ranked(index), ranked(src)
    at = wrap_dim(dim, len(self._shape))
    check_range("scatter_reduce", index, self._shape[at], at)
    wide = WIDER.get(self._dtype, self._dtype)
    flat, values = self.reshape(-1).to(wide), cropped(src, index).reshape(-1).to(wide)
    strides = contiguous_strides(self._shape)
    steps: list[Any] = grid(index, at)
    place: Any = sum(n * s for n, s in zip(steps, strides, strict=True))
    place = place.expand(index._shape).reshape(-1)
    combine = _COMBINED[reduce]
    where, found = _segments(place, values, combine)
    if include_self:
        found = combine(flat.index_select(0, where), found)
    if reduce == "mean":
        ones = fn.ones_like(place)
        _, count = _segments(place, ones, combine)
        count = count + 1 if include_self else count
        found = _quotient(found, count)
    return fn._index_put_positions(flat, [where], found.to(wide)).to(self._dtype).view(shape)


def _quotient(total: Any, count: Any) -> Any:
    if total._dtype.category < FLOATING:
        return fn.div(total, count, rounding_mode="floor")
    return total / count


# ---- gradients ----------------------------------------------------------------------------------


def _counts(self: Any, dim: int, index: Any, include_self: bool) -> Any:
    start = fn.ones_like(self) if include_self else fn.zeros_like(self)
    count = start.scatter_add(dim, index, self.new_ones(index._shape))
    return count.masked_fill(count == 0, 1)


def _ties(self: Any, dim: int, index: Any, src: Any, result: Any) -> tuple[Any, Any, Any]:
    """Which elements of ``self`` and ``src`` are the extreme, and how many share its gradient."""
    mine = (self == result).to(self._dtype)
    theirs = (src == result.gather(dim, index)).to(self._dtype)
    return mine, theirs, mine.scatter_add(dim, index, theirs)


def _self_grad(
    g: Any, self: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool, result: Any
) -> Any:
    src = cropped(src, index)
    if reduce == "sum":
        back = g
    elif reduce == "mean":
        back = g / _counts(g, dim, index, include_self)
    elif reduce == "prod":
        # Without the zeros of `self`: the product of the others, which a quotient cannot give.
        filled = self.masked_fill(self == 0, 1)
        others = fn.scatter_reduce(filled, dim, index, src, reduce, include_self=include_self)
        back = g * conj(others / filled)
    else:
        mine, _, sharing = _ties(self, dim, index, src, result)
        back = g * mine / sharing
    return back if include_self else back.scatter(dim, index, 0)


def _src_grad(
    g: Any, self: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool, result: Any
) -> Any:
    whole, src = src._shape, cropped(src, index)
    if reduce == "sum":
        back = g.gather(dim, index)
    elif reduce == "mean":
        back = (g / _counts(g, dim, index, include_self)).gather(dim, index)
    elif reduce == "prod":
        back = _factors(g, self, dim, index, src, include_self, result)
    else:
        _, theirs, sharing = _ties(self, dim, index, src, result)
        back = (g / sharing).gather(dim, index) * theirs
    return fit(back, whole)


def _factors(
    g: Any, self: Any, dim: int, index: Any, src: Any, include_self: bool, result: Any
) -> Any:
    """Gradient of factors: a zero among them gets the product of the others, if it is the only one."""
    zero = src == 0
    zeros = fn.zeros_like(self).scatter_add(dim, index, zero.to(self._dtype)).gather(dim, index)
    single = zero & (zeros == 1)
    rest = fn.scatter_reduce(
        self, dim, index, src.masked_fill(single, 1), "prod", include_self=include_self
    )
    quotient = result.gather(dim, index) / src.masked_fill(zero, 1)
    return g.gather(dim, index) * conj(fn.where(single, rest.gather(dim, index), quotient))


op(
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, "
    "bool include_self=True) -> Tensor",
    doc="A copy of ``input`` in which elements of ``src`` are combined with what is at their positions "
    'along a dimension: ``"sum"``, ``"prod"``, ``"mean"``, ``"amax"`` or ``"amin"``. Without '
    "``include_self`` only elements of ``src`` count where there are any.",
    rule=_reduce_rule,
    grad={"self": _self_grad, "src": _src_grad},
    decomposition=_scatter_reduce,
    inplace=True,
    out=True,
)

# ---- slices -------------------------------------------------------------------------------------


def _index_reduce_rule(
    self: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> TensorSpec:
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."
        )
    if len(index._shape) > 1:
        raise IndexError("index_reduce(): Index is supposed to be a vector")
    if index._dtype not in INDEX_DTYPES:
        raise RuntimeError(
            f"index_reduce(): Expected dtype int32/int64 for index but got: {index._dtype.label}"
        )
    if source._dtype is not self._dtype:
        raise RuntimeError("index_reduce(): self and source expected to have the same scalar type")
    at = wrap_dim(dim, len(self._shape))
    want = (*self._shape[:at], numel(index._shape), *self._shape[at + 1 :]) if self._shape else ()
    if source._shape != want and (index._shape or source._shape):
        raise RuntimeError(
            f"index_reduce(): source tensor shape must match self tensor shape, excluding the "
            f"specified dimension. Got self.shape = {show(self._shape)} source.shape = "
            f"{show(source._shape)}"
        )
    return TensorSpec(self._shape, self._dtype)


def _index_reduce(
    self: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    warn_user_once("index_reduce() is in beta and the API may change at any time.")
    _index_reduce_rule(self, dim, index, source, reduce)
    at = wrap_dim(dim, len(self._shape))
    check_range("index_reduce", index, self._shape[at] if self._shape else 1, at, IndexError)
    base, given = (self, source) if self._shape else (self.reshape(1), source.reshape(-1))
    along = [1] * len(base._shape)
    along[at] = -1
    spread = index.reshape(-1).to(int64).view(along).expand(given._shape)
    reduced = fn.scatter_reduce(base, at, spread, given, reduce, include_self=include_self)
    return reduced if self._shape else reduced.view(())


op(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, "
    "bool include_self=True) -> Tensor",
    doc="A copy of ``input`` in which slices of ``source`` are combined with those at positions along a "
    'dimension: ``"prod"``, ``"mean"``, ``"amax"`` or ``"amin"``.',
    rule=_index_reduce_rule,
    decomposition=_index_reduce,
    inplace=True,
    out=True,
)
