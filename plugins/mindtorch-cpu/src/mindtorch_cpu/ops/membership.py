"""The most frequent of few elements, and those among others: of few NumPy calls."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_core.backend import bool_, int64, wrap_dim

from ..arrays import row_major, wrap
from ..large import SOME
from ..register import composition_of, kernel, rule_of
from .order import along, positions_in_order

_mode: Final = composition_of("mode")
_isin: Final = composition_of("isin.Tensor_Tensor")


def _is_served(a: Any) -> bool:
    return a.dtype.kind in "iuf" and 0 < a.size < SOME


def _starts(values: Any) -> Any:
    """For elements in order, whether each differs from the one before; the first does."""
    first = np.empty(values.shape, np.bool_)
    first[..., :1] = True
    np.not_equal(values[..., 1:], values[..., :-1], first[..., 1:])
    return first


@kernel("mode")
def mode(self: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent elements along a dimension."""
    a = self.raw_data
    if not a.ndim or not _is_served(a):
        return _mode(self, dim, keepdim)
    rule_of("mode")(self, dim, keepdim)
    axis = wrap_dim(dim, a.ndim)
    moved = np.moveaxis(a, axis, -1)
    order = positions_in_order(moved, descending=False)
    values, places = along(moved, order), np.arange(moved.shape[-1])
    started = np.maximum.accumulate(_starts(values) * places, -1)
    end = (places - started).argmax(-1)[..., None]
    found = []
    for each in (values, order):
        taken = along(each, end)
        taken = np.moveaxis(taken, -1, axis) if keepdim else taken[..., 0]
        found.append(np.array(taken, order="C"))
    return wrap(found[0], self.raw_dtype), wrap(found[1], int64)


@kernel("isin.Tensor_Tensor")
def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Any:
    """Whether each element is among others."""
    a, others = elements.raw_data, test_elements.raw_data.reshape(-1)
    if a.dtype != others.dtype or not _is_served(a) or not 0 < a.size * others.size < SOME:
        return _isin(elements, test_elements, assume_unique=assume_unique, invert=invert)
    found = (row_major(a)[..., None] == others).any(-1)
    return wrap(np.asarray(~found if invert else found), bool_)
