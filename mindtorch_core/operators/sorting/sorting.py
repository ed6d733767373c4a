"""Sorting, and what follows from the order: top elements, ranks, medians, modes, quantiles."""

from __future__ import annotations

from operator import index
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import NONDIFF, TensorSpec
from ...opdefs import rules
from ...opdefs.define import op
from ...opdefs.formulas import selected_grad, shared_grad
from ...tensors.tensor import Tensor
from ...values.dtypes import BOOL, COMPLEX, FLOATING, bool_, int64
from ...values.memory_formats import contiguous_format
from ...values.promotion import result_type
from ...values.shapes import reduced, wrap_dim

_PAIR = "(Tensor values, Tensor indices)"


def _sort_rule(
    self: Tensor, *, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> tuple[TensorSpec, TensorSpec]:
    wrap_dim(dim, len(self._shape))
    if self._dtype.category == COMPLEX:
        raise RuntimeError(
            "Sort does not support complex dtypes: complex numbers have no order. Sort their .abs(), "
            ".real or .imag"
        )
    return rules.like(self), rules.like(self, int64)


def _scattered(g: Any, self_shape: Any, dim: int, result1: Any) -> Any:
    """Gradient of a permutation or choice along a dimension that stays."""
    return g.new_zeros(self_shape).scatter(dim, result1, g)


op(
    f"sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> {_PAIR}",
    doc="Elements in order along a dimension, equal ones in their own order, and where they were. NaN "
    "counts as largest.",
    rule=_sort_rule,
    grad={"self": _scattered},
    output_differentiability=(True, False),
    primitive=True,
    out=True,
)
op(
    f"sort(Tensor self, int dim=-1, bool descending=False) -> {_PAIR}",
    doc="Elements in order along a dimension, and where they were. NaN counts as largest.",
    decomposition=lambda self, dim=-1, descending=False: fn.sort(
        self, stable=False, dim=dim, descending=descending
    ),
    out=True,
)
op(
    "msort(Tensor self) -> Tensor",
    doc="Elements in order along the first dimension.",
    decomposition=lambda self: fn.sort(self, 0)[0],
    out=True,
)
op(
    "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
    doc="Positions that sort the elements along a dimension.",
    decomposition=lambda self, dim=-1, descending=False: fn.sort(self, dim, descending)[1],
)
op(
    "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
    doc="Positions that sort the elements along a dimension; equal ones keep their order.",
    decomposition=lambda self, *, stable, dim=-1, descending=False: fn.sort(
        self, stable=stable, dim=dim, descending=descending
    )[1],
    out=True,
)


def _topk_rule(
    self: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[TensorSpec, TensorSpec]:
    at = wrap_dim(dim, len(self._shape))
    _sort_rule(self, dim=dim)
    shape = self._shape
    if not 0 <= k <= (shape[at] if shape else 1):
        raise RuntimeError(
            f"topk(): selected index k out of range: k is {k}, the dimension has "
            f"{shape[at] if shape else 1} elements"
        )
    shape = (*shape[:at], k, *shape[at + 1 :]) if shape else shape
    return TensorSpec(shape, self._dtype), TensorSpec(shape, int64)


def _topk(
    self: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    _topk_rule(self, k, dim, largest, sorted)
    values, indices = fn.sort(self, dim, largest)
    if not self._shape:
        return values, indices
    values, indices = (
        t.narrow(dim, 0, k).clone(memory_format=contiguous_format) for t in (values, indices)
    )
    return values, indices


op(
    f"topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> {_PAIR}",
    doc="The ``k`` largest (or smallest) elements along a dimension in order, and where they are.",
    rule=_topk_rule,
    grad={"self": _scattered},
    output_differentiability=(True, False),
    decomposition=_topk,
    out=True,
)


def _choice_spec(self: Tensor, dim: int, keepdim: bool) -> tuple[TensorSpec, TensorSpec]:
    """Specs of a value chosen along a dimension and of its position."""
    at = wrap_dim(dim, len(self._shape))
    shape = reduced(self._shape, (at,), keepdim) if self._shape else ()
    return TensorSpec(shape, self._dtype), TensorSpec(shape, int64)


def _chosen(g: Any, self_shape: Any, dim: int, keepdim: bool, result1: Any) -> Any:
    return selected_grad(g, self_shape, dim, result1, keepdim)


def _kthvalue_rule(
    self: Tensor, k: int, dim: int = -1, keepdim: bool = False
) -> tuple[TensorSpec, TensorSpec]:
    at = wrap_dim(dim, len(self._shape))
    rules.nonempty("kthvalue", self, dim)
    _sort_rule(self, dim=dim)
    n = self._shape[at] if self._shape else 1
    if not 1 <= k <= n:
        raise RuntimeError(
            f"kthvalue(): selected number k out of range for dimension {at}: k is {k}, the dimension "
            f"has {n} elements"
        )
    return _choice_spec(self, dim, keepdim)


def _at_rank(ordered: Any, rank: Any, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """Value and position at a rank along a sorted dimension: an int, or a tensor with one each."""
    values, indices = ordered
    if not values._shape:
        return values, indices
    if isinstance(rank, int):
        picked = values.narrow(dim, rank, 1), indices.narrow(dim, rank, 1)
    else:
        picked = values.gather(dim, rank), indices.gather(dim, rank)
    found = picked if keepdim else [t.squeeze(dim) for t in picked]
    values, indices = (t.clone(memory_format=contiguous_format) for t in found)
    return values, indices


def _kthvalue(self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    _kthvalue_rule(self, k, dim, keepdim)
    # `index` since the rank may be a tensor of one integer, which stands for one.
    return _at_rank(fn.sort(self, dim), index(k) - 1, dim, keepdim)


op(
    f"kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> {_PAIR}",
    doc="The ``k``-th smallest element along a dimension, counted from 1, and its position.",
    rule=_kthvalue_rule,
    grad={"self": _chosen},
    output_differentiability=(True, False),
    decomposition=_kthvalue,
    out=True,
)


# ---- medians ------------------------------------------------------------------------------------


def _median_rule(name: str) -> Any:
    def rule(self: Tensor, dim: int, keepdim: bool = False) -> tuple[TensorSpec, TensorSpec]:
        spec = _choice_spec(self, dim, keepdim)
        rules.nonempty(name, self, dim)
        if self._dtype.category == COMPLEX:
            raise NotImplementedError(f"\"{name}\" not implemented for '{self._dtype.label}'")
        return spec

    return rule


def _median(name: str) -> Any:
    """The lower of the two in the middle: of all elements, or of those that are not NaN."""
    rule = _median_rule(name)

    def composed(self: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
        rule(self, dim, keepdim)
        ordered = fn.sort(self, dim)
        if not self._shape:
            return ordered[0], ordered[1]
        n = self._shape[wrap_dim(dim, len(self._shape))]
        if self._dtype.category < FLOATING:
            return _at_rank((ordered[0], ordered[1]), (n - 1) // 2, dim, keepdim)
        valid: Any = self.isnan().logical_not().sum(dim, True)
        middle = ((valid - 1).clamp(min=0) / 2).to(int64)
        if name == "median":  # the first NaN, if there is one
            middle = fn.where(valid < n, valid, middle)
        return _at_rank((ordered[0], ordered[1]), middle, dim, keepdim)

    return composed


def _median_of_all(name: str) -> Any:
    def composed(self: Tensor) -> Tensor:
        if 0 in self._shape:
            if self._dtype is bool_:
                return self.new_full((), True)  # NaN, as a truth value
            if self._dtype.category < FLOATING:
                # NaN as a machine cuts it off: the lowest number of 32 bits or more, whose last bits are 0.
                d = self._dtype
                large = d.is_signed and d.itemsize >= 4
                return self.new_full((), -(1 << (8 * d.itemsize - 1)) if large else 0)
            return self.new_full((), float("nan"))
        return getattr(fn, name)(self.reshape(-1), 0)[0]  # type: ignore[no-any-return]

    return composed


def _median_of_all_rule(name: str) -> Any:
    def rule(self: Tensor) -> TensorSpec:
        return TensorSpec((), self._dtype)

    return rules.limited(rule, name, "bif", operands=1)


for _name, _doc in (
    ("median", "NaN if there is one"),
    ("nanmedian", "those that are NaN are left out"),
):
    op(
        f"{_name}(Tensor self) -> Tensor",
        doc=f"The median of all elements, the lower of two in the middle; {_doc}.",
        rule=_median_of_all_rule(_name),
        grad={"self": shared_grad},
        decomposition=_median_of_all(_name),
    )
    op(
        f"{_name}.dim(Tensor self, int dim, bool keepdim=False) -> {_PAIR}",
        doc=f"The median along a dimension, the lower of two in the middle, and its position; {_doc}.",
        rule=_median_rule(_name),
        grad={"self": _chosen},
        output_differentiability=(True, False),
        decomposition=_median(_name),
        out=True,
    )


def _mode_rule(self: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[TensorSpec, TensorSpec]:
    spec = _choice_spec(self, dim, keepdim)
    rules.nonempty("mode", self, dim)
    return spec


def _mode(self: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The longest run of equal elements in order; the first of those, which is the smallest."""
    _mode_rule(self, dim, keepdim)
    if not self._shape:
        return self.clone(), fn.zeros_like(self, dtype=int64)
    values, indices = fn.sort(self, dim)
    n = values._shape[wrap_dim(dim, len(self._shape))]
    before, after = values.narrow(dim, 0, n - 1), values.narrow(dim, 1, n - 1)
    first = fn.zeros_like(indices.narrow(dim, 0, 1))
    steps = fn.cat([first, (before != after).to(int64)], dim)
    shape = [1] * len(self._shape)
    shape[dim] = n
    positions = fn.arange(n, device=self._device).view(shape)
    started = fn.cummax(steps * positions, dim)[0]
    end = (positions - started).argmax(dim, True)
    return _at_rank((values, indices), end, dim, keepdim)


op(
    f"mode(Tensor self, int dim=-1, bool keepdim=False) -> {_PAIR}",
    doc="The most frequent element along a dimension, the smallest among several, and the last place "
    "where it stands.",
    rule=_mode_rule,
    grad={"self": _chosen},
    output_differentiability=(True, False),
    decomposition=_mode,
    out=True,
)


# ---- order among given elements -----------------------------------------------------------------


def _isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    flat = test_elements if len(test_elements._shape) == 1 else test_elements.reshape(-1)
    wanted, common = elements.contiguous(), elements._dtype
    if common is not flat._dtype:
        common = result_type(elements, test_elements)
        flat, wanted = flat.to(common), wanted.to(common)
    count = flat._shape[0]
    if not count:
        found = fn.zeros_like(wanted, dtype=rules.truth(common))
    elif count == 1:
        found = fn.eq(wanted, flat if wanted._shape else flat.reshape(()))
    elif count <= 8 or common.category == COMPLEX or common.category == BOOL:
        found = (wanted.unsqueeze(-1) == flat).any(-1)
    else:
        ordered = fn.sort(flat)[0]
        at = fn.searchsorted(ordered, wanted).clamp(max=count - 1)
        found = ordered.take(at) == wanted
    return found.logical_not() if invert else found


_ISIN_DOC = "Whether each element is among the test elements (or is not, if ``invert``)."
_ISIN = "*, bool assume_unique=False, bool invert=False) -> Tensor"
op(
    f"isin.Tensor_Tensor(Tensor elements, Tensor test_elements, {_ISIN}",
    doc=_ISIN_DOC,
    rule=lambda elements, test_elements, **_: TensorSpec(elements._shape, bool_),
    grad=NONDIFF,
    decomposition=_isin,
    out=True,
    namespaces=("torch",),
)
op(
    f"isin.Tensor_Scalar(Tensor elements, Scalar test_element, {_ISIN}",
    doc=_ISIN_DOC,
    grad=NONDIFF,
    decomposition=lambda elements, test_element, *, assume_unique=False, invert=False: (
        fn.ne(elements, test_element) if invert else fn.eq(elements, test_element)
    ),
    out=True,
    namespaces=("torch",),
)
op(
    f"isin.Scalar_Tensor(Scalar element, Tensor test_elements, {_ISIN}",
    doc=_ISIN_DOC,
    grad=NONDIFF,
    decomposition=lambda element, test_elements, *, assume_unique=False, invert=False: _isin(
        test_elements.new_full((), element, dtype=_meeting(test_elements, element)),
        test_elements,
        invert=invert,
    ),
    out=True,
    namespaces=("torch",),
)


def _meeting(t: Tensor, number: Any) -> Any:
    """The dtype in which a tensor and a number meet."""
    from ...values.promotion import result_type

    return result_type(t, number)
