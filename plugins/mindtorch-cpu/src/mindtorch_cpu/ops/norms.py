"""What the kernels of norms share: blocks of elements in the dtype that is computed in, and statistics."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_core.backend import FLOATING

from ..arrays import NUMPY_OF, WIDER, wrap
from ..rows import dots, over_blocks, spread, sums
from ..turned import row_major_copy

__all__ = [
    "WIDE_OF",
    "compute_dtype",
    "deviation",
    "is_served",
    "means_of",
    "normalised",
    "packed",
    "part_in",
    "room_in",
    "settle",
    "statistic",
    "widened",
]

# Elements of a run that costs more to go through than to begin.
_RUN: Final = 128


def is_served(*tensors: Any) -> bool:
    """Whether tensors are real, floating, row-major and not empty."""
    for t in tensors:  # no generator: a norm of a few numbers would feel it
        data = t.raw_data
        if t.raw_dtype.category != FLOATING or not data.size or not data.flags.c_contiguous:
            return False
    return True


def packed(t: Any) -> Any:
    """A tensor whose elements are row-major: the same one, or a copy; gradients of sums repeat one number."""
    a = t.raw_data
    return t if a.flags.c_contiguous else wrap(row_major_copy(a), t.raw_dtype)


def widened(t: Any, d: Any) -> Any:
    """A parameter as a flat array of a dtype; None stays None."""
    if t is None:
        return None
    data = t.raw_data
    return data if data.ndim == 1 and data.dtype is d else data.astype(d, copy=False).reshape(-1)


# NumPy's dtypes that are computed in another one.
WIDE_OF: Final = {NUMPY_OF[d]: NUMPY_OF[wide] for d, wide in WIDER.items()}


def compute_dtype(t: Any) -> Any:
    """NumPy's dtype that a tensor's elements are computed in."""
    return NUMPY_OF[WIDER.get(t.raw_dtype, t.raw_dtype)]


def part_in(a: Any, part: Any, d: Any) -> Any:
    """A block of elements in the dtype that is computed in; a copy also of short runs, see `_in_runs`."""
    found = a[part]
    if found.dtype == d:
        return found.copy() if _in_runs(found) else found
    return found.astype(d)


def _in_runs(block: Any) -> bool:
    """Whether a block of (N, C, S) lies in runs so short that each pass over it costs several copies."""
    return block.ndim == 3 and not block.flags.c_contiguous and block[0].size < _RUN


def room_in(out: Any, part: Any, d: Any) -> Any:
    """Where a block is computed: in the result itself, unless that is of half precision or in short runs."""
    found = out[part]
    return np.empty(found.shape, d) if found.dtype != d or _in_runs(found) else found


def settle(out: Any, part: Any, made: Any) -> None:
    """Put a block that was computed elsewhere where it belongs."""
    there = out[part]
    if there.dtype != made.dtype or there.strides != made.strides:
        there[...] = made


def deviation(x: Any, out: Any, eps: float) -> tuple[Any, Any]:
    """Write rows less their mean; give the means and 1 / sqrt(variance + eps), both (rows, 1)."""
    count = x.dtype.type(x.shape[1])
    mean = (sums(x) / count)[:, None]
    np.subtract(x, spread(mean, x.shape[1]), out)
    variance = (dots(out, out) / count)[:, None]
    return mean, 1 / np.sqrt(variance + x.dtype.type(eps))


def statistic(data: Any, shape: Any, d: Any) -> Any:
    """A tensor of statistics."""
    wanted = NUMPY_OF[d]
    return wrap((data if data.dtype is wanted else data.astype(wanted)).reshape(shape), d)


def normalised(specs: Any, out: Any, means: Any, factors: Any) -> Any:
    """Results of a norm: the elements, and the statistics that its gradient needs."""
    spec, kept, _ = specs
    shape, d = kept.shape, kept.dtype
    made = wrap(out.reshape(spec.shape), spec.dtype)
    return made, statistic(means, shape, d), statistic(factors, shape, d)


def means_of(x: Any, saved: Any, d: Any) -> Any:
    """The rows' means (rows, 1), computed again where they were rounded to half precision."""
    if NUMPY_OF[saved.raw_dtype].itemsize >= d.itemsize:
        return widened(saved, d).reshape(-1, 1)
    found = np.empty((len(x), 1), d)

    def work(part: slice) -> None:
        found[part, 0] = sums(part_in(x, part, d)) / d.type(x.shape[1])

    over_blocks(work, len(x), x.shape[1])
    return found
