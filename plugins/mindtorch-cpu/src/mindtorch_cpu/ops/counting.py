"""Places in sorted sequences, and counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindtorch_core.backend import binary_search, check_bincount, int64, promote_types, result_type

from ..arrays import NUMPY_OF, array_of, cast, quietly, wrap
from ..register import composition_of, kernel, register, rule_of
from .order import ordered_bits


def _searchsorted(
    sorted_sequence: Any,
    self: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: Any = None,
    sorter: Any = None,
) -> Any:
    """One sequence for all values; several sequences are searched by the composition."""
    options = {"out_int32": out_int32, "right": right, "side": side, "sorter": sorter}
    if sorted_sequence.raw_data.ndim != 1 or sorter is not None:
        return binary_search(sorted_sequence, self, **options)
    d = rule_of("searchsorted.Tensor")(sorted_sequence, self, **options).dtype
    if hasattr(self, "raw_keys"):
        common = promote_types(sorted_sequence.raw_dtype, self.raw_dtype)
    else:
        common = result_type(sorted_sequence, self)
    a, v = cast(sorted_sequence, common), array_of(self, common)
    missing = v != v
    if a.dtype.kind == "V":
        a, v = ordered_bits(a), ordered_bits(v)
    found = np.searchsorted(a, v, "right" if right or side == "right" else "left")
    found = np.where(missing, a.size, found)  # NaN comes last
    return wrap(found.astype(NUMPY_OF[d], copy=False), d)


register("searchsorted.Tensor", _searchsorted)
register("searchsorted.Scalar", _searchsorted)


@kernel("bincount")
def bincount(self: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number occurs."""
    d = check_bincount(self, weights, minlength)
    if not self.raw_data.size:
        return wrap(np.zeros(minlength, np.int64), int64)
    w = None if weights is None else weights.raw_data.astype(np.float64)
    return wrap(np.bincount(self.raw_data, w, minlength).astype(NUMPY_OF[d], copy=False), d)


@kernel("histc")
def histc(self: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    """How many floats lie in each of some equal bins."""
    line = self.raw_data.reshape(-1)
    if line.dtype.kind == "f" and line.size and bins > 0:
        low, high = (line.min(), line.max()) if min == max else (min, max)
        low, high = float(low), float(high)
        if low < high and math.isfinite(high - low):
            rule_of("histc")(self, bins, min, max)
            return wrap(quietly(_counted, line, bins, low, high), self.raw_dtype)
    return composition_of("histc")(self, bins, min, max)


def _counted(line: Any, bins: int, low: float, high: float) -> Any:
    steps = line[(line >= low) & (line <= high)]
    steps -= low
    steps *= bins
    steps /= high - low
    places = steps.astype(np.int64)
    np.clip(places, 0, bins - 1, places)
    return np.bincount(places, None, bins).astype(line.dtype)


@kernel("_lexicographic_order")
def lexicographic_order(rows: Any) -> Any:
    """Positions that sort rows, by their first different elements."""
    a = rows.raw_data
    if a.dtype.kind == "V":
        a = ordered_bits(np.ascontiguousarray(a))
    if not a.shape[1]:
        return wrap(np.arange(a.shape[0]), int64)
    return wrap(np.lexsort(a.T[::-1]), int64)
