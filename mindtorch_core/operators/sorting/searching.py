"""Places in sorted boundaries, counts in bins, positions of elements that are not zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import NONDIFF, TensorSpec
from ...opdefs.define import op
from ...opdefs.operands import as_operand
from ...tensors.tensor import Tensor
from ...values.dtypes import (
    BOOL,
    COMPLEX,
    FLOATING,
    INTEGER,
    dtype,
    float32,
    float64,
    int32,
    int64,
)
from ...values.promotion import promote_types, result_type
from ...values.shapes import show

_Range = tuple[float, float]

# ---- places in sorted boundaries ----------------------------------------------------------------


def _check_search(
    sorted_sequence: Tensor, values: Any, right: bool, side: str | None, sorter: Any
) -> None:
    """Refuse arguments that do not fit together."""
    if side is not None and side not in ("left", "right"):
        raise RuntimeError(
            f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        )
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while "
            "right was True"
        )
    rows = sorted_sequence._shape
    if not rows:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar, but the sorted sequence must have at "
            "least one dimension"
        )
    if sorter is not None:
        if sorter._shape != rows:
            raise RuntimeError(
                f"torch.searchsorted(): boundary and sorter must have the same size, but got boundary "
                f"tensor {show(rows)} and got sorter tensor {show(sorter._shape)}"
            )
        if sorter._dtype is not int64:
            raise RuntimeError(
                f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
                f"{sorter._dtype.label}"
            )
    if not isinstance(values, Tensor):
        if len(rows) != 1:
            raise RuntimeError(
                "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
                f"dimension is 1, but we got boundaries tensor dim({len(rows)})"
            )
        return
    if len(rows) != 1 and rows[:-1] != values._shape[:-1]:
        raise RuntimeError(
            f"torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            f"dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {show(rows)} and input value tensor {show(values._shape)}"
        )


def _search_rule(
    sorted_sequence: Tensor,
    self: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> TensorSpec:
    _check_search(sorted_sequence, self, right, side, sorter)
    shape = self._shape if isinstance(self, Tensor) else ()
    return TensorSpec(shape, int32 if out_int32 else int64)


def search(
    sorted_sequence: Any,
    self: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Tensor:
    """Halve all ranges at once, until each holds one place."""
    spec = _search_rule(
        sorted_sequence, self, out_int32=out_int32, right=right, side=side, sorter=sorter
    )
    rows: Any = sorted_sequence
    if sorter is not None:
        rows = rows.gather(-1, sorter)
    values = self if isinstance(self, Tensor) else as_operand(rows, self)
    if values._dtype is not rows._dtype:
        common = promote_types(rows._dtype, values._dtype)
        rows, values = rows.to(common), values.to(common)
    n = rows._shape[-1]
    lines = values.reshape(-1) if len(rows._shape) == 1 else values
    low = lines.new_zeros(lines._shape, dtype=int64)
    high = fn.full_like(low, n)
    for _ in range(n.bit_length()):
        middle = fn.floor_divide(low + high, 2)
        at = rows.gather(-1, middle.clamp(max=n - 1))
        # NaN comes last, as nothing is at least NaN.
        stays = (at > lines) if right or side == "right" else (at >= lines)
        open_ = low < high
        low = fn.where(open_ & stays.logical_not(), middle + 1, low)
        high = fn.where(open_ & stays, middle, high)
    return low.reshape(spec.shape).to(spec.dtype)


_SEARCHED = "*, bool out_int32=False, bool right=False"
for _overload, _type in (("Tensor", "Tensor"), ("Scalar", "Scalar")):
    op(
        f"searchsorted.{_overload}(Tensor sorted_sequence, {_type} self, {_SEARCHED}, str? side=None, "
        "Tensor? sorter=None) -> Tensor",
        doc="Where to insert values into a sorted sequence (along its last dimension), before equal "
        "elements or after them if ``right``.",
        rule=_search_rule,
        grad=NONDIFF,
        decomposition=search,
        out=True,
        namespaces=("torch",),
    )


def _bucketize(
    self: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    if len(boundaries._shape) != 1:
        raise RuntimeError(
            f"boundaries tensor must be 1 dimension, but got dim({len(boundaries._shape)})"
        )
    if isinstance(self, Tensor) and self._dtype is not boundaries._dtype:
        common = result_type(self, boundaries)
        self, boundaries = self.to(common), boundaries.to(common)
    return fn.searchsorted(boundaries, self, out_int32=out_int32, right=right)


for _overload, _type in (("Tensor", "Tensor"), ("Scalar", "Scalar")):
    op(
        f"bucketize.{_overload}({_type} self, Tensor boundaries, {_SEARCHED}) -> Tensor",
        doc="Number of the bucket between sorted boundaries in which each value lies; a boundary "
        "belongs to the bucket below, or above if ``right``.",
        grad=NONDIFF,
        decomposition=_bucketize,
        out=_overload == "Tensor",
        namespaces=("torch",),
    )

# ---- counts in bins -----------------------------------------------------------------------------


def check_bincount(self: Any, weights: Any, minlength: int) -> dtype:
    """The dtype of the counts.

    Raises:
        RuntimeError: for arguments that `bincount` does not take.
    """
    if minlength < 0:
        raise RuntimeError(f"bincount(): minlength should be >= 0, but got {minlength}")
    if self._dtype.category != INTEGER:
        raise NotImplementedError(f"\"bincount\" not implemented for '{self._dtype.label}'")
    if len(self._shape) != 1:
        raise RuntimeError(
            f"bincount only supports 1-d non-negative integral inputs, but got {self._dtype} of shape "
            f"{show(self._shape)}"
        )
    if weights is not None and weights._shape != self._shape:
        raise RuntimeError(
            f"weights should be 1-d and have the same length as input: {show(weights._shape)} and "
            f"{show(self._shape)}"
        )
    if self._shape[0] and int(self.min()) < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs")
    if weights is None:
        return int64
    return float32 if weights._dtype is float32 else float64


def _bincount(self: Any, weights: Any = None, minlength: int = 0) -> Tensor:
    d = check_bincount(self, weights, minlength)
    if not self._shape[0]:
        return self.new_zeros((minlength,), dtype=int64)  # type: ignore[no-any-return]
    size = max(int(self.max()) + 1, minlength)
    amounts = fn.ones_like(self, dtype=d) if weights is None else weights.to(d)
    return fn.index_add(amounts.new_zeros((size,)), 0, self.to(int64), amounts)


op(
    "bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",
    doc="How often each number from 0 on occurs, or the sum of the weights where it does.",
    grad=NONDIFF,
    decomposition=_bincount,
    data_dependent=True,
)


def _histc_rule(self: Tensor, bins: int = 100, min: Any = 0, max: Any = 0) -> TensorSpec:
    if self._dtype.category in (BOOL, COMPLEX):
        raise NotImplementedError(f"\"histc\" not implemented for '{self._dtype.label}'")
    if bins <= 0:
        raise RuntimeError(f"torch.histc(): bins must be > 0, but got {bins}")
    _ordered_range("histc", float(min), float(max))
    return TensorSpec((bins,), self._dtype)


def _ordered_range(name: str, low: float, high: float) -> None:
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.{name}: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(f"torch.{name}: max must be larger than min, got [{low:g}, {high:g}]")


def _bounds(name: str, values: Any, given: _Range | None, widen: float) -> _Range:
    """The range to count in: that of the values if none is given, widened where it is empty."""
    low, high = given or (0.0, 0.0)
    if given is None and values.numel():
        low, high = values.min().item(), values.max().item()
        _ordered_range(name, low, high)
    return (low - widen, high + widen) if low == high else (low, high)


def _histc(self: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Tensor:
    spec = _histc_rule(self, bins, min, max)
    values = self.reshape(-1)
    whole = self._dtype.category < FLOATING
    number = int if whole else float
    low, high = _bounds("histc", values, (number(min), number(max)) if min != max else None, 1)
    inside = (values >= low) & (values <= high)
    # Whole numbers are told apart exactly where 64 bits suffice.
    exact = whole and (high - low) * bins < 1 << 63
    steps = (values.to(int64 if exact else float64) if whole else values) - low
    steps = steps * bins
    places = fn.div(steps, high - low, rounding_mode="floor") if exact else steps / (high - low)
    places = places.to(int64).clamp(0, bins - 1)
    places = fn.where(inside, places, bins)  # one more bin for what lies outside
    counts = self.new_zeros((bins + 1,), dtype=int64)
    counts = counts.index_add(0, places, fn.ones_like(places))
    return counts.narrow(0, 0, bins).to(spec.dtype)  # type: ignore[no-any-return]


op(
    "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
    doc="How many elements lie in each of ``bins`` equal bins between ``min`` and ``max`` (of the data, "
    "if both are equal).",
    rule=_histc_rule,
    grad=NONDIFF,
    decomposition=_histc,
    out=True,
)


def _check_histogram(name: str, self: Tensor, weight: Any, count: Sequence[int]) -> None:
    if self._dtype.category != FLOATING:
        raise NotImplementedError(f"\"{name}\" not implemented for '{self._dtype.label}'")
    if weight is not None:
        if weight._dtype is not self._dtype:
            raise RuntimeError(
                f"torch.{name}(): if weight tensor is provided, input tensor and weight tensor should "
                f"have the same dtype, but got input({self._dtype}), and weight({weight._dtype})"
            )
        if list(weight._shape) != list(count):
            raise RuntimeError(
                f"torch.{name}(): if weight tensor is provided it should have the same shape as the "
                f"input tensor excluding its innermost dimension, but got {show(weight._shape)} and "
                f"{show(tuple(count))}"
            )


def _edges(name: str, column: Any, bins: Any, given: _Range | None) -> Any:
    """Edges of the bins of one coordinate: given, or equally spaced."""
    if isinstance(bins, Tensor):
        if bins._dtype is not column._dtype:
            raise RuntimeError(
                f"torch.{name}(): input tensor and bins tensors should have the same dtype, but got "
                f"input with dtype {column._dtype} and bins with dtype {bins._dtype}"
            )
        if len(bins._shape) != 1 or not bins._shape[0]:
            raise RuntimeError(
                f"torch.{name}(): bins tensor should have one dimension and at least one element, but "
                f"got shape {show(bins._shape)}"
            )
        return bins.clone()
    if bins <= 0:
        raise RuntimeError(f"torch.{name}(): bins must be > 0, but got {bins}")
    if given is None and not column.numel():
        given = 0.0, 1.0
    low, high = _bounds(name, column, given, 0.5)
    return fn.linspace(low, high, bins + 1, dtype=column._dtype, device=column._device)


def _counted(columns: Sequence[Any], edges: Sequence[Any], weight: Any, density: bool) -> Any:
    """Weights summed in bins of several coordinates; the last bin holds its upper edge too."""
    like = columns[0]
    place = fn.zeros_like(like, dtype=int64)
    inside = fn.ones_like(place, dtype=like.isnan()._dtype)
    shape = tuple(e._shape[0] - 1 for e in edges)
    for column, e, n in zip(columns, edges, shape, strict=True):
        at = fn.searchsorted(e.contiguous(), column.contiguous(), right=True) - 1
        inside = inside & (column >= e.select(0, 0)) & (column <= e.select(0, -1))
        place = place * n + at.clamp(0, n - 1)
    total = math.prod(shape)
    amounts = fn.ones_like(like) if weight is None else weight.reshape(-1)
    place, amounts = fn.where(inside, place, total), fn.where(inside, amounts, 0)
    counts = like.new_zeros((total + 1,)).index_add(0, place, amounts)
    hist = counts.narrow(0, 0, total).reshape(shape)
    if not density:
        return hist
    hist = hist / hist.sum()
    for i, e in enumerate(edges):
        width = (e.narrow(0, 1, shape[i]) - e.narrow(0, 0, shape[i])).view(
            [-1 if j == i else 1 for j in range(len(shape))]
        )
        hist = hist / width
    return hist


def _histogram(
    self: Any, bins: Any = 100, *, range: Any = None, weight: Any = None, density: bool = False
) -> tuple[Tensor, Tensor]:
    _check_histogram("histogram", self, weight, self._shape)
    flat = self.reshape(-1)
    edges = _edges("histogram", flat, bins, _ranges("histogram", range, 1)[0])
    return _counted([flat], [edges], weight, density), edges


def _ranges(name: str, range: Any, count: int) -> Sequence[_Range | None]:
    """The range of each coordinate; None asks for that of the data."""
    if range is None:
        return [None] * count
    if len(range) != 2 * count:
        raise RuntimeError(
            f"torch.{name}(): if range is specified, it should have {2 * count} elements, a lower and "
            f"an upper bound for each of {count} coordinates, but got {len(range)}"
        )
    pairs = [(float(a), float(b)) for a, b in zip(range[::2], range[1::2], strict=True)]
    for low, high in pairs:
        _ordered_range(name, low, high)
    return pairs


_HISTOGRAM = "Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)"
for _overload, _bins in (
    ("bins_tensor", "Tensor bins, *, "),
    ("bin_ct", "int bins=100, *, float[]? range=None, "),
):
    op(
        f"histogram.{_overload}(Tensor self, {_bins}{_HISTOGRAM}",
        doc="Counts (or weights) of elements in bins, given by their number or by their edges, and the "
        "edges; ``density`` scales to an integral of 1.",
        grad=NONDIFF,
        decomposition=_histogram,
        out=True,
    )


def _histogramdd(
    self: Any, bins: Any, range: Any = None, weight: Any = None, density: bool = False
) -> tuple[Tensor, tuple[Tensor, ...]]:
    name = "histogramdd"
    if len(self._shape) < 2:
        raise RuntimeError(
            f"torch.{name}: input tensor should have at least 2 dimensions, but got "
            f"{len(self._shape)}"
        )
    _check_histogram(name, self, weight, self._shape[:-1])
    count = self._shape[-1]
    per = [bins] * count if isinstance(bins, int) else list(bins)
    if len(per) != count:
        raise RuntimeError(
            f"{name}: The size of bins must be equal to the innermost dimension of the input. "
            f"Got {len(per)} and {count}"
        )
    if not count:  # points without coordinates
        return self.new_full((), math.nan if density else 0), ()
    points = self.reshape(-1, count)
    columns = [points.select(1, i) for i in _count(count)]
    ranges = _ranges(name, range, count)
    edges = [_edges(name, c, b, r) for c, b, r in zip(columns, per, ranges, strict=True)]
    counts = _counted(columns, edges, weight, density)
    given = [b if isinstance(b, Tensor) else e for b, e in zip(per, edges, strict=True)]
    return counts, tuple(given)


_count = range  # the argument of that name hides it
for _overload, _bins in (
    ("", "int[] bins"),
    (".int_bins", "int bins"),
    (".TensorList_bins", "Tensor[] bins"),
):
    op(
        f"histogramdd{_overload}(Tensor self, {_bins}, float[]? range=None, Tensor? weight=None, "
        "bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
        doc="Counts (or weights) of points, whose coordinates are the last dimension, in a grid of bins, "
        "and the edges along each coordinate.",
        grad=NONDIFF,
        decomposition=_histogramdd,
        namespaces=("torch",),
    )

# ---- positions ----------------------------------------------------------------------------------

op(
    "argwhere(Tensor self) -> Tensor",
    doc="Positions of elements that are not zero, one row each.",
    grad=NONDIFF,
    decomposition=lambda self: fn.nonzero(self),
    data_dependent=True,
)


def _nonzero_static(self: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be a non-negative integer, got {size}")
    found = fn.nonzero(self)
    count = found._shape[0]
    if count >= size:
        return found.narrow(0, 0, size).clone()
    rest = found.new_full((size - count, len(self._shape)), fill_value)
    return fn.cat([found, rest], 0)


op(
    "nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor",
    doc="The first ``size`` positions of elements that are not zero; rows that are left over hold "
    "``fill_value``.",
    rule=lambda self, *, size, fill_value=-1: TensorSpec((size, len(self._shape)), int64),
    grad=NONDIFF,
    decomposition=_nonzero_static,
)
