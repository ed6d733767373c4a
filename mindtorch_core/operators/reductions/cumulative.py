"""Cumulative sums, products, extremes and log-sum-exps along a dimension.

Compositions take logarithmically many steps: each joins what is known of neighbouring ranges and
doubles their length.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs import rules
from ...opdefs.define import op
from ...opdefs.formulas import conj, in_single
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, FLOATING, bool_, int64
from ...values.shapes import wrap_dim

_INF, _NAN = float("inf"), float("nan")


def _sum_rule(self: Tensor, dim: int, *, dtype: Any = None) -> TensorSpec:
    wrap_dim(dim, len(self._shape))
    if dtype is bool_:
        raise NotImplementedError("cumulative sums and products are not implemented for 'Bool'")
    if dtype is not None:
        rules.tell_of_lost_parts(self._dtype, dtype)
    return TensorSpec(self._shape, dtype or rules.sum_dtype(self._dtype))


def scan(join: Callable[[Any, Any], Any], t: Tensor, dim: int) -> Tensor:
    """Running results of an associative function along a dimension.

    Args:
        join: what makes the result of two neighbouring ranges from those of each.
        t: the elements.
        dim: the dimension.
    """
    n, step = t._shape[dim], 1
    while step < n:
        joined = join(t.narrow(dim, 0, n - step), t.narrow(dim, step, n - step))
        t = fn.cat([t.narrow(dim, 0, step), joined], dim)
        step *= 2
    return t


def suffix_recurrence(factor: Tensor, term: Tensor, dim: int) -> Tensor:
    """Solution of ``x[i] = term[i] + factor[i] * x[i + 1]`` along a dimension.

    It only multiplies and adds, so zeros among the factors need no care.
    """
    n, step = term._shape[dim], 1
    while step < n:
        rest = n - step
        near, tail = factor.narrow(dim, 0, rest), factor.narrow(dim, rest, step)
        sums = term.narrow(dim, 0, rest) + near * term.narrow(dim, step, rest)
        term = fn.cat([sums, term.narrow(dim, rest, step)], dim)
        factor = fn.cat([near * factor.narrow(dim, step, rest), tail], dim)
        step *= 2
    return term


def flipped(t: Tensor, dim: int) -> Tensor:
    """The elements of a dimension in reverse order."""
    return t.flip(dim) if t._shape else t


def suffix_sum(t: Tensor, dim: int) -> Tensor:
    """For each element the sum from there to the end."""
    return flipped(flipped(t, dim).cumsum(dim), dim)


op(
    "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    doc="Sums of the elements up to each along a dimension; integers are summed as int64.",
    rule=_sum_rule,
    grad={"self": lambda g, self_dtype, dim: suffix_sum(g, dim).to(self_dtype)},
    primitive=True,
    inplace=True,
    inplace_decomposition=lambda self, dim, *, dtype=None: _inplace("cumsum", self, dim, dtype),
    out=True,
    out_needs=("computed in",),
)


def _inplace(name: str, self: Tensor, dim: int, dtype: Any) -> Tensor:
    """A cumulative op in place; the result is converted to the tensor's own dtype."""
    if dtype is not None and dtype is not self._dtype:
        raise RuntimeError(
            f"{name}_(): the tensor's dtype ({self._dtype.label}) and the dtype of the result "
            f"({dtype.label}) differ; leave out dtype"
        )
    return self.copy_(getattr(fn, name)(self, dim, dtype=dtype or self._dtype))


def _cumprod(self: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    spec = _sum_rule(self, dim, dtype=dtype)
    self = self if self._dtype is spec.dtype else self.to(spec.dtype)
    if not self._shape:
        return self.clone()
    return scan(lambda a, b: a * b, self, wrap_dim(dim, len(self._shape))).clone()


def cumprod_grad(grad: Any, input: Any, dim: int, output: Any) -> Any:
    """Gradient of `cumprod`, exact also where factors are zero."""
    if not input._shape:
        return grad.to(input._dtype)
    at = wrap_dim(dim, len(input._shape))
    n = input._shape[at]
    if n <= 1:
        return grad.to(input._dtype)
    wide = conj(input if input._dtype is grad._dtype else input.to(grad._dtype))
    first = wide.narrow(at, 0, 1)
    following = fn.cat([wide.narrow(at, 1, n - 1), fn.zeros_like(first)], at)
    before = fn.cat([fn.ones_like(first), conj(output).narrow(at, 0, n - 1)], at)
    return (before * suffix_recurrence(following, grad, at)).to(input._dtype)


op(
    "cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    doc="Products of the elements up to each along a dimension; integers multiply as int64.",
    rule=_sum_rule,
    grad={"self": lambda g, self, dim, result: cumprod_grad(g, self, dim, result)},
    decomposition=_cumprod,
    inplace=True,
    inplace_decomposition=lambda self, dim, *, dtype=None: _inplace("cumprod", self, dim, dtype),
    out=True,
    out_needs=("computed in",),
)
op(
    "cumprod_backward(Tensor grad, Tensor input, int dim, Tensor output) -> Tensor",
    doc="Gradient of `cumprod` from its input and output.",
    decomposition=cumprod_grad,
    namespaces=("torch",),
)


def _extremes_rule(name: str) -> Any:
    def rule(self: Tensor, dim: int) -> Any:
        wrap_dim(dim, len(self._shape))
        return TensorSpec(self._shape, self._dtype), TensorSpec(self._shape, int64)

    return rules.limited(rule, name, "bif", operands=1)


def _extremes(name: str, join: str) -> Any:
    rule = _extremes_rule(name)

    def composed(self: Tensor, dim: int) -> tuple[Tensor, Tensor]:
        rule(self, dim)
        if not self._shape or 0 in self._shape:
            return self.clone(), fn.zeros_like(self, dtype=int64)
        at = wrap_dim(dim, len(self._shape))
        values = scan(getattr(fn, join), self, at)
        attained = self == values
        if self._dtype.category >= FLOATING:
            attained = attained | self.isnan()
        count = [1] * len(self._shape)
        count[at] = self._shape[at]
        positions = fn.arange(self._shape[at], device=self._device).view(count)
        indices = scan(fn.maximum, fn.where(attained, positions, 0), at)
        return values.clone(), indices

    return composed


for _name, _join, _word in (("cummax", "maximum", "Largest"), ("cummin", "minimum", "Smallest")):
    op(
        f"{_name}(Tensor self, int dim) -> (Tensor values, Tensor indices)",
        doc=f"{_word} element up to each along a dimension, and the last position where it stands.",
        rule=_extremes_rule(_name),
        grad={
            "self": lambda g, self_shape, dim, result1: g.new_zeros(self_shape).scatter_add(
                dim, result1, g
            )
        },
        output_differentiability=(True, False),
        decomposition=_extremes(_name, _join),
        out=True,
    )


def log_add_exp(a: Any, b: Any) -> Any:
    """``log(exp(a) + exp(b))`` without overflow, of real or complex numbers."""
    if a._dtype.category == COMPLEX:
        swap = a.real < b.real
        high, low = fn.where(swap, b, a), fn.where(swap, a, b)
        infinite = (high.real == low.real) & ~high.real.isfinite()
        shift = fn.where(infinite, 0, low - high)
        joined = high + fn.where(shift.real == -_INF, 0, (shift.exp() + 1).log())
        # Where infinities of one sign meet, those below all numbers have no angle.
        met = fn.where(high.real > 0, (a.exp() + b.exp()).log(), -_INF)
        return fn.where(a.isnan() | b.isnan(), complex(_NAN, _NAN), fn.where(infinite, met, joined))
    high = fn.maximum(a, b)
    gap = fn.where(a == b, 0, -(a - b).abs())  # infinities of one sign are apart by nothing
    return high + gap.exp().log1p()


def _logcumsumexp_rule(self: Tensor, dim: int) -> TensorSpec:
    wrap_dim(dim, len(self._shape))
    if self._dtype.category < FLOATING:
        raise NotImplementedError(
            f"\"logcumsumexp_out_cpu\" not implemented for '{self._dtype.label}'"
        )
    return TensorSpec(self._shape, self._dtype)


def logcumsumexp_by_scan(self: Tensor, dim: int) -> Tensor:
    """Cumulative log-sum-exp in logarithmically many steps."""
    _logcumsumexp_rule(self, dim)
    if not self._shape or 0 in self._shape:
        return self.clone()
    if self._dtype.category == COMPLEX:
        # What stands alone is joined with nothing, and so are its NaN and infinities.
        self = log_add_exp(self, fn.full_like(self, -_INF))
    return scan(log_add_exp, self, wrap_dim(dim, len(self._shape))).clone()


def _logcumsumexp_grad(g: Any, self: Any, result: Any, dim: int) -> Any:
    """Each element's share of the sums from it on, carried back by ratios of sums."""
    if not self._shape:
        return g
    at = wrap_dim(dim, len(self._shape))
    n = self._shape[at]
    if not n:
        return g
    # Before the first finite sum all shares are zero; a difference of infinities would be NaN.
    empty = (result.real if result._dtype.category == COMPLEX else result) == -_INF
    own = fn.where(empty, 0, (self - fn.where(empty, 0, result)).exp())
    last = result.narrow(at, n - 1, 1)
    following = fn.cat([result.narrow(at, 1, n - 1), last], at)
    ratio = fn.where(empty, 0, (fn.where(empty, 0, result) - fn.where(empty, 0, following)).exp())
    return conj(own) * suffix_recurrence(conj(ratio), g, at)


op(
    "logcumsumexp(Tensor self, int dim) -> Tensor",
    doc="Logarithm of the sums of exponentials up to each element along a dimension.",
    rule=_logcumsumexp_rule,
    grad={"self": _logcumsumexp_grad},
    decomposition=in_single(logcumsumexp_by_scan),
    out=True,
)
