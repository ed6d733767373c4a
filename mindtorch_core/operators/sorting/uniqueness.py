"""Elements and slices without repetition."""

from __future__ import annotations

import math
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import NONDIFF, TensorSpec
from ...opdefs.define import op, public
from ...tensors.making import sole
from ...tensors.tensor import Tensor
from ...values.dtypes import bool_, int64
from ...values.shapes import wrap_dim
from ..elementwise.composed import by_name

Found = tuple[Tensor, Tensor, Tensor]


def _groups(first: Any, order: Any, want_inverse: bool, want_counts: bool) -> tuple[Any, Any, Any]:
    """Where groups start, the group of each element, and the groups' sizes.

    Args:
        first: for each element in order, whether it starts a group.
        order: positions of the elements before they were put in order; None if they were not.
        want_inverse: whether the group numbers are wanted.
        want_counts: whether the sizes are wanted.
    """
    starts = fn.nonzero(first).reshape(-1)
    inverse, counts = (first.new_empty((0,), dtype=int64) for _ in range(2))
    if want_inverse:
        inverse = first.cumsum(0) - 1
        if order is not None:
            inverse = fn.zeros_like(inverse).scatter(0, order, inverse)
    if want_counts:
        end = starts.new_full((1,), first._shape[0])
        counts = fn.cat([starts, end]).diff()
    return starts, inverse, counts


def _first_of_runs(t: Any) -> Any:
    """For a vector or the rows of a matrix, whether each differs from the one before."""
    n = t._shape[0]
    if not n:
        return t.new_empty((0,), dtype=bool_)
    differs = t.narrow(0, 1, n - 1) != t.narrow(0, 0, n - 1)
    if len(t._shape) > 1:
        differs = differs.any(1)
    return fn.cat([differs.new_full((1,), True), differs])


def _refuse_complex(t: Any, name: str) -> None:
    if t._dtype.is_complex:
        raise NotImplementedError(f"\"{name}\" not implemented for '{t._dtype.label}'")


def _unique(
    self: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> Found:
    _refuse_complex(self, "unique")
    values, order = fn.sort(self.reshape(-1), stable=True)
    starts, inverse, counts = _groups(_first_of_runs(values), order, return_inverse, return_counts)
    if return_inverse:
        inverse = inverse.reshape(self._shape)
    return values.index_select(0, starts), inverse, counts


def _unique_consecutive(
    self: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Found:
    if dim is not None:
        return _unique_slices(self, dim, False, return_inverse, return_counts)
    _refuse_complex(self, "unique")
    flat = self.reshape(-1)
    starts, inverse, counts = _groups(_first_of_runs(flat), None, return_inverse, return_counts)
    if return_inverse:
        inverse = inverse.reshape(self._shape)
    return flat.index_select(0, starts), inverse, counts


def _unique_slices(
    self: Any, dim: int, sort: bool, return_inverse: bool, return_counts: bool
) -> Found:
    """Different slices along a dimension, in lexicographic order if ``sort``."""
    _refuse_complex(self, "unique_dim")
    if not self._shape:
        raise IndexError("unique_dim: a tensor of no dimensions has no slices")
    at = wrap_dim(dim, len(self._shape))
    n = self._shape[at]
    if any(size == 0 for i, size in enumerate(self._shape) if i != at):
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    rest = [i for i in range(len(self._shape)) if i != at]
    rows = self.permute([at, *rest]).reshape(n, math.prod(self._shape[i] for i in rest))
    order = fn._lexicographic_order(rows) if sort and n else None
    ordered = rows if order is None else rows.index_select(0, order)
    starts, inverse, counts = _groups(_first_of_runs(ordered), order, return_inverse, return_counts)
    kept = starts if order is None else order.index_select(0, starts)
    slices = rows.index_select(0, kept).reshape(-1, *(self._shape[i] for i in rest))
    return sole(slices.movedim(0, at)), inverse, counts


def _lexicographic_order(rows: Any) -> Tensor:
    """Stable sorts by one column after the other, the most significant one last."""
    order = fn.arange(rows._shape[0], device=rows._device)
    for column in reversed(range(rows._shape[1])):
        keys = rows.select(1, column).index_select(0, order)
        order = order.index_select(0, fn.argsort(keys, stable=True))
    return order


op(
    "_lexicographic_order(Tensor rows) -> Tensor",
    doc="Positions that sort the rows of a matrix, comparing their first different elements.",
    rule=lambda rows: TensorSpec(rows._shape[:1], int64),
    grad=NONDIFF,
    decomposition=_lexicographic_order,
    namespaces=("torch",),
)
_RETURNS = "bool return_inverse=False, bool return_counts=False"
for _name, _schema, _doc, _composed in (
    (
        "_unique2",
        f"Tensor self, bool sorted=True, {_RETURNS}",
        "Different elements in order, the number of each element among them, and how often they occur",
        _unique,
    ),
    (
        "unique_dim",
        f"Tensor self, int dim, bool sorted=True, {_RETURNS}",
        "Different slices along a dimension in order, the number of each slice among them, and how "
        "often they occur",
        lambda self, dim, sorted=True, return_inverse=False, return_counts=False: _unique_slices(
            self, dim, True, return_inverse, return_counts
        ),
    ),
    (
        "unique_consecutive",
        f"Tensor self, {_RETURNS}, int? dim=None",
        "Elements (slices along ``dim``) that differ from the one before, the number of each element "
        "among them, and the lengths of runs",
        _unique_consecutive,
    ),
    (
        "unique_dim_consecutive",
        f"Tensor self, int dim, {_RETURNS}",
        "Slices along a dimension that differ from the one before, the number of each slice among "
        "them, and the lengths of runs",
        lambda self, dim, return_inverse=False, return_counts=False: _unique_slices(
            self, dim, False, return_inverse, return_counts
        ),
    ),
):
    op(
        f"{_name}({_schema}) -> (Tensor, Tensor, Tensor)",
        doc=f"{_doc}; empty where not asked for.",
        grad=NONDIFF,
        decomposition=_composed,
        data_dependent=True,
        namespaces=("torch",) if _name == "_unique2" else (),
    )
op(
    "_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)",
    doc="Different elements in order, and the number of each element among them if asked for.",
    grad=NONDIFF,
    decomposition=lambda self, sorted=True, return_inverse=False: _unique(
        self, sorted, return_inverse
    )[:2],
    data_dependent=True,
    namespaces=("torch",),
)


# ---- as users call them -------------------------------------------------------------------------


def _asked(found: Found, return_inverse: bool, return_counts: bool) -> Any:
    """The values, and what else was asked for."""
    values, inverse, counts = found
    if not return_inverse and not return_counts:
        return values
    return (values, *((inverse,) if return_inverse else ()), *((counts,) if return_counts else ()))


@public("torch", "Tensor")
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Different elements, or slices along a dimension, in order.

    Args:
        input: of any shape.
        sorted: ignored: the result is always in order.
        return_inverse: return also the number of each element among the different ones.
        return_counts: return also how often each occurs.
        dim: the dimension whose slices are compared.

    Returns:
        A tensor; a tuple, if more than that is asked for.

    Raises:
        IndexError: if there is no such dimension.

    Example:
        >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
        (tensor([1, 3]), tensor([1, 2]))
    """
    if dim is None:
        found: Any = fn._unique2(input, sorted, return_inverse, return_counts)
    else:
        found = by_name("unique_dim")(input, dim, sorted, return_inverse, return_counts)
    return _asked(found, return_inverse, return_counts)


@public("torch", "Tensor")
def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Elements, or slices along a dimension, that differ from the one before.

    Args:
        input: of any shape.
        return_inverse: return also the number of each element's run.
        return_counts: return also the lengths of the runs.
        dim: the dimension whose slices are compared.

    Returns:
        A tensor; a tuple, if more than that is asked for.

    Example:
        >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 1]))
        tensor([1, 2, 1])
    """
    found = by_name("unique_consecutive")(input, return_inverse, return_counts, dim)
    return _asked(found, return_inverse, return_counts)
