"""Reductions: sums, means, extremes and their positions."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import NONDIFF, TensorSpec
from ...opdefs import rules
from ...opdefs.define import op
from ...opdefs.formulas import (
    conj,
    degrees_of_freedom,
    in_single,
    reduced_count,
    selected_grad,
    shared_grad,
    unreduce,
)
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, FLOATING, bool_, get_default_dtype, int64, uint8
from ...values.promotion import WIDER, to_floating
from ...values.shapes import reduced, wrap_dim, wrap_dims

Dims = Any


_DIMS = "Tensor self, int[1]? dim=None, bool keepdim=False"

op(
    f"sum({_DIMS}, *, ScalarType? dtype=None) -> Tensor",
    overloads=("", "dim_IntList"),
    doc="Sum over dimensions (all if ``dim`` is None); integers are summed as int64.",
    rule=rules.reduction(rules.sum_dtype),
    grad={
        "self": lambda g, self_shape, self_dtype, dim, keepdim: unreduce(
            g if g._dtype is self_dtype else g.to(self_dtype), self_shape, dim, keepdim
        )
    },
    node_names=("SumBackward0", "SumBackward1"),
    primitive=True,
    out=True,
    out_needs=("computed in",),
    tags=frozenset({"reduction"}),
)


def _mean_dtype(d: Any) -> Any:
    """The dtype that a mean is asked in; whole numbers have none."""
    if d.category < FLOATING:
        raise RuntimeError(
            f"mean(): could not infer output dtype. Input dtype must be either a floating point or "
            f"complex dtype. Got: {d.label}"
        )
    return d


def _mean_rule(self: Tensor, dim: Dims = None, keepdim: bool = False, dtype: Any = None) -> Any:
    return rules.reduction(_mean_dtype(dtype or self._dtype))(self, dim, keepdim)


op(
    f"mean({_DIMS}, *, ScalarType? dtype=None) -> Tensor",
    overloads=("", "dim"),
    doc="Mean over dimensions (all if ``dim`` is None).",
    rule=_mean_rule,
    grad={
        "self": lambda g, self_shape, self_dtype, dim, keepdim: (
            unreduce(g, self_shape, dim, keepdim).to(self_dtype)
            / max(reduced_count(self_shape, dim), 1)
        )
    },
    node_names=("MeanBackward0", "MeanBackward1"),
    decomposition=lambda self, dim=None, keepdim=False, *, dtype=None: _mean(
        self, dim, keepdim, dtype
    ),
    out=True,
    out_needs=("floats computed in",),
    tags=frozenset({"reduction"}),
)


def _mean(self: Tensor, dim: Dims, keepdim: bool, dtype: Any) -> Tensor:
    d = _mean_dtype(dtype or self._dtype)
    wide = WIDER.get(d, d)
    total: Any = fn.sum(self, dim, keepdim, dtype=wide)
    mean: Tensor = total / reduced_count(self._shape, dim)
    return mean if wide is d else mean.to(d)


def _prod_grad(g: Any, self: Any, self_dtype: Any, dim: Any, keepdim: bool) -> Any:
    """Product of all other elements, also where some are zero: products from both sides."""
    if not self._shape:
        return g.to(self_dtype)
    wide = self if self._dtype is g._dtype else self.to(g._dtype)
    if dim is None:
        found = (g * conj(products_of_others(wide.reshape(-1), 0))).reshape(self._shape)
    else:
        at = wrap_dim(dim, len(self._shape))
        found = (g if keepdim else g.unsqueeze(at)) * conj(products_of_others(wide, at))
    return found.to(self_dtype)


def products_of_others(t: Tensor, dim: int) -> Tensor:
    """For each element the product of all others along a dimension."""
    n = t._shape[dim]
    if n <= 1:
        return fn.ones_like(t)
    from .cumulative import flipped

    one = fn.ones_like(t.narrow(dim, 0, 1))
    before = fn.cat([one, t.narrow(dim, 0, n - 1).cumprod(dim)], dim)
    after = flipped(flipped(t.narrow(dim, 1, n - 1), dim).cumprod(dim), dim)
    return before * fn.cat([after, one], dim)


op(
    "prod(Tensor self, int? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    overloads=("", "dim_int"),
    doc="Product over a dimension (all if ``dim`` is None); integers multiply as int64.",
    rule=rules.reduction(rules.sum_dtype),
    grad={"self": _prod_grad},
    node_names=("ProdBackward0", "ProdBackward1"),
    primitive=True,
    out=True,
    out_needs=("computed in",),
    tags=frozenset({"reduction"}),
)


def extreme_grad(g: Any, self: Any, result: Any, dim: Any, keepdim: bool) -> Any:
    """Share the gradient evenly among the elements that attain the extreme."""
    shape = self._shape
    hit = self == unreduce(result, shape, dim, keepdim)
    count = hit.sum(list(wrap_dims(dim, len(shape))) or None, True)
    return unreduce(g, shape, dim, keepdim) * hit / count


def _extreme_rule(name: str) -> Any:
    def rule(self: Tensor, dim: Dims = None, keepdim: bool = False) -> TensorSpec:
        for d in wrap_dims(dim, len(self._shape)):
            if self._shape[d] == 0:
                if dim is None or dim in ([], ()):
                    rules.nonempty(name, self, None)
                rules.nonempty(name, self, d)
        return TensorSpec(
            reduced(self._shape, wrap_dims(dim, len(self._shape)), keepdim), self._dtype
        )

    return rules.limited(rule, name, "bif", operands=1)


for _name, _word in (("amax", "Largest"), ("amin", "Smallest")):
    op(
        f"{_name}(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
        doc=f"{_word} element over dimensions (all if none are given); ties share the gradient.",
        rule=_extreme_rule(_name),
        grad={"self": extreme_grad},
        kinds="bif",
        primitive=True,
        out=True,
        tags=frozenset({"reduction"}),
    )


def _arg_rule(name: str) -> Any:
    def rule(self: Tensor, dim: int | None = None, keepdim: bool = False) -> TensorSpec:
        if dim is None:
            if 0 in self._shape:
                raise IndexError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
                )
            return TensorSpec((1,) * len(self._shape) if keepdim else (), int64)
        wrap_dim(dim, len(self._shape))
        rules.nonempty(name, self, dim)
        return TensorSpec(reduced(self._shape, wrap_dims(dim, len(self._shape)), keepdim), int64)

    return rules.limited(rule, name, "if", operands=1)


def _smallest_at(self: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """`argmin`, as `argmax` of what has the opposite order."""
    return fn.argmax(-self if self._dtype.category == FLOATING else ~self, dim, keepdim)


for _name, _word in (("argmax", "largest"), ("argmin", "smallest")):
    op(
        f"{_name}(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
        doc=f"Position of the {_word} element, the first one among equals; flat if ``dim`` is None.",
        rule=_arg_rule(_name),
        grad=NONDIFF,
        kinds="if",
        primitive=_name == "argmax",
        decomposition=None if _name == "argmax" else _smallest_at,
        out=True,
        tags=frozenset({"reduction"}),
    )


def _max_dim_rule(name: str) -> Any:
    def rule(self: Tensor, dim: int, keepdim: bool = False) -> Any:
        at = (wrap_dim(dim, len(self._shape)),)
        rules.nonempty(name, self, dim)
        shape = reduced(self._shape, at, keepdim) if self._shape else ()
        return TensorSpec(shape, self._dtype), TensorSpec(shape, int64)

    return rules.limited(rule, name, "bif", operands=1)


def _max_dim(name: str, arg: str) -> Any:
    rule = _max_dim_rule(name)

    def values_and_indices(self: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
        rule(self, dim, keepdim)
        if not self._shape:
            return self.clone(), fn.zeros_like(self, dtype=int64)
        indices = getattr(fn, arg)(self.to(uint8) if self._dtype is bool_ else self, dim, True)
        values = self.gather(dim, indices)
        if keepdim:
            return values, indices
        return values.squeeze(dim), indices.squeeze(dim)

    return values_and_indices


op(
    "value_selecting_reduction_backward(Tensor grad, int dim, Tensor indices, int[] sizes, "
    "bool keepdim) -> Tensor",
    doc="Gradient of ops that choose one element along a dimension, such as `max` with ``dim``.",
    decomposition=lambda grad, dim, indices, sizes, keepdim: selected_grad(
        grad, tuple(sizes), dim, indices, keepdim
    ),
    namespaces=("torch",),
)


def _all_rule(name: str) -> Any:
    def rule(self: Tensor) -> TensorSpec:
        rules.nonempty(name, self, None)
        return TensorSpec((), self._dtype)

    return rules.limited(rule, f"{name}_all", "bif", operands=1)


def _all_max(name: str, over_dims: str) -> Any:
    """`max` or `min` of all elements."""
    rule = _all_rule(name)

    def extreme(self: Tensor) -> Any:
        if self._dtype.is_complex or 0 in self._shape:
            rule(self)  # which refuses them
        return getattr(fn, over_dims)(self)

    return extreme


for _name, _all, _arg, _other in (
    ("max", "amax", "argmax", "maximum"),
    ("min", "amin", "argmin", "minimum"),
):
    op(
        f"{_name}(Tensor self) -> Tensor",
        doc=f"The {_name}imum element.",
        rule=_all_rule(_name),
        grad={"self": shared_grad},
        node_names=(f"{_name.capitalize()}Backward1",),
        decomposition=_all_max(_name, _all),
        out=True,
        out_needs=("cast",),
        tags=frozenset({"reduction"}),
    )
    op(
        f"{_name}.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        doc=f"The {_name}imum along a dimension and its position.",
        rule=_max_dim_rule(_name),
        grad={
            "self": lambda g, self_shape, dim, keepdim, result1: selected_grad(
                g, self_shape, dim, result1, keepdim
            )
        },
        node_names=(f"{_name.capitalize()}Backward0",),
        output_differentiability=(True, False),
        decomposition=_max_dim(_name, _arg),
        out=True,
        tags=frozenset({"reduction"}),
    )
    op(
        f"{_name}.other(Tensor self, Tensor other) -> Tensor",
        doc=f"Alias of `{_other}`.",
        decomposition=lambda self, other, _other=_other: getattr(fn, _other)(self, other),
        out=True,
        out_needs=("cast",),
        tags=frozenset({"pointwise"}),
    )


def _truth_rule(self: Tensor, dim: Dims = None, keepdim: bool = False) -> TensorSpec:
    """As other reductions, except that an empty list of dimensions reduces none."""
    d = uint8 if self._dtype is uint8 else bool_
    if isinstance(dim, list | tuple) and not dim:
        return TensorSpec(self._shape, d)
    return TensorSpec(reduced(self._shape, wrap_dims(dim, len(self._shape)), keepdim), d)


def _counted(some: bool) -> Any:
    """`any` or `all`, by counting the elements that decide."""

    def truth(self: Any, dim: Dims = None, keepdim: bool = False) -> Any:
        spec = _truth_rule(self, dim, keepdim)
        deciding = (self != 0) if some else (self == 0)
        if not isinstance(dim, list | tuple) or dim:
            deciding = deciding.sum(dim, keepdim)
        return (deciding != 0 if some else deciding == 0).to(spec.dtype)

    return truth


for _name, _word in (("any", "some element is"), ("all", "all elements are")):
    op(
        f"{_name}({_DIMS}) -> Tensor",
        overloads=("", "dim", "dims"),
        doc=f"Whether {_word} non-zero, over dimensions (all if ``dim`` is None).",
        rule=_truth_rule,
        grad=NONDIFF,
        decomposition=_counted(_name == "any"),
        out=True,
        out_needs=("truth",),
        tags=frozenset({"reduction"}),
    )


op(
    "_is_all_true(Tensor self) -> Tensor",
    doc="Whether all elements of a boolean tensor are true.",
    decomposition=lambda self: self.all(),
    namespaces=("torch",),
)
op(
    "_is_any_true(Tensor self) -> Tensor",
    doc="Whether some element of a boolean tensor is true.",
    decomposition=lambda self: self.any(),
    namespaces=("torch",),
)


def _spread_rule(
    self: Tensor, dim: Dims = None, *, correction: Any = None, keepdim: bool = False
) -> TensorSpec:
    if self._dtype.category < FLOATING:
        raise RuntimeError(
            f"std and var only support floating point and complex dtypes, got {self._dtype}"
        )
    return rules.reduction(lambda d: d.to_real())(self, dim, keepdim)


def _var(
    self: Tensor,
    dim: Dims = None,
    *,
    correction: Any = None,
    keepdim: bool = False,
    name: str = "var",
) -> Tensor:
    _spread_rule(self, dim, correction=correction, keepdim=keepdim)
    centred = self - self.mean(dim, True)
    if self._dtype.category == COMPLEX:
        squares = fn._real(centred * centred.conj())
    else:
        squares = centred * centred
    total: Any = squares.sum(dim, keepdim)
    variance: Tensor = total / degrees_of_freedom(self._shape, dim, correction, name)
    return variance


def _var_grad(g: Any, self: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    free = degrees_of_freedom(self._shape, dim, correction)
    slope = 2 / free if free else float("inf")
    return (unreduce(g, self._shape, dim, keepdim) * slope) * (self - self.mean(dim, True))


def _std_grad(g: Any, self: Any, result: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    """As of `var`; 0 where the deviation is 0 and the root's slope infinite."""
    flat = result == 0
    g = fn.where(flat, 0, g / (fn.where(flat, 1, result) * 2))
    return _var_grad(g, self, dim, correction, keepdim)


for _name, _doc, _deviation, _grad in (
    (
        "var",
        "Variance: squared deviations over ``n - correction`` (1 by default).",
        in_single(_var),
        _var_grad,
    ),
    (
        "std",
        "Standard deviation, the root of `var`.",
        in_single(lambda self, dim=None, **options: _var(self, dim, **options, name="std").sqrt()),
        _std_grad,
    ),
):
    op(
        f"{_name}.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
        "bool keepdim=False) -> Tensor",
        doc=_doc,
        rule=_spread_rule,
        grad={"self": _grad},
        decomposition=_deviation,
        out=True,
        out_needs=("cast",),
        tags=frozenset({"reduction"}),
    )
    op(
        f"{_name}.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
        doc=_doc,
        decomposition=lambda self, dim, unbiased=True, keepdim=False, _name=_name: getattr(
            fn, _name
        )(self, dim, correction=int(unbiased), keepdim=keepdim),
        out=True,
        out_needs=("cast",),
        tags=frozenset({"reduction"}),
    )
    op(
        f"{_name}(Tensor self, bool unbiased=True) -> Tensor",
        doc=_doc,
        decomposition=lambda self, unbiased=True, _name=_name: getattr(fn, _name)(
            self, None, correction=int(unbiased)
        ),
        tags=frozenset({"reduction"}),
    )


def _logsumexp(self: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    if self._dtype.category < FLOATING:
        self = self.to(get_default_dtype())
    if 0 in self._shape:
        return self.exp().sum(dim, keepdim).log()
    seen = self.detach()
    top = (fn._real(seen) if self._dtype.category == COMPLEX else seen).amax(dim, True)
    top = fn.where(top.isfinite(), top, 0)
    total = (self - top).exp().sum(dim, keepdim).log()
    if not keepdim:
        dims = sorted(wrap_dims(dim, len(self._shape)), reverse=True)
        for d in dims:
            top = top.squeeze(d)
    return total + top


def _logsumexp_grad(g: Any, self: Any, result: Any, dim: Any, keepdim: bool) -> Any:
    g, result = (unreduce(t, self._shape, dim, keepdim) for t in (g, result))
    return g * (self - result).exp().conj()


op(
    "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    doc="Logarithm of the sum of exponentials, without overflow.",
    rule=rules.reduction(to_floating),
    grad={"self": _logsumexp_grad},
    decomposition=_logsumexp,
    out=True,
    tags=frozenset({"reduction"}),
    out_needs=("inexact",),
)
