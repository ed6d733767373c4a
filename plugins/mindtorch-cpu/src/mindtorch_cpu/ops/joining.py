"""Joining tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_core.backend import (
    Tensor,
    contiguous_format,
    format_of_all,
    format_strides,
    fresh,
    numel,
)

from ..arrays import CPU, KEYS, NUMPY_OF, cast, laid_as, relaid, room, row_major, wrap
from ..large import SOME, many
from ..memory_pool import POOL
from ..register import composition_of, kernel, rule_of
from ..turned import in_rows


@kernel("cat")
def cat(tensors: Any, dim: int = 0) -> Any:
    """Tensors one after another."""
    if tensors.__class__ is Tensor:
        return _cat_mixed(tensors, dim)
    arrays = [t.raw_data for t in tensors]
    first = arrays[0]
    large = first.size >= SOME and many(first)
    try:
        data = _joined(tensors, arrays, dim) if large else np.concatenate(arrays, dim)
    except (ValueError, TypeError, IndexError):
        data = None  # so that the rule's error comes without NumPy's
    if data is None or data.dtype is not first.dtype:  # promoted: PyTorch's rules may differ
        return _cat_mixed(tensors, dim)
    shape = data.shape
    if len(shape) > 1 and not large:
        lies = _format(tensors, first)
        data = row_major(data) if lies is contiguous_format else relaid(data, None, lies)
    r = fresh()
    r.raw_data = data
    r.raw_shape = shape
    r.raw_layout = None
    r.raw_dtype = tensors[0].raw_dtype
    r.raw_device = CPU
    r.raw_keys = KEYS
    r.raw_storage = None
    r.raw_base = None
    r.raw_autograd = None
    return r


def _format(tensors: Any, first: Any) -> Any:
    """The memory format of tensors one after another, of which the first one's array is given."""
    steps = first.strides
    images = len(steps) > 3 and steps[1] <= steps[-1]
    return format_of_all(tensors) if images else contiguous_format


def _joined(tensors: Any, arrays: Any, dim: int) -> Any:
    """Many elements one after another, in memory that is there already.

    Raises:
        IndexError: for a dimension out of range.
        ValueError: where shapes do not fit.
    """
    shape, d = list(arrays[0].shape), arrays[0].dtype
    if any(a.dtype is not d for a in arrays):
        raise ValueError("one array is not of the dtype of the others")
    shape[dim] = sum(a.shape[dim] for a in arrays)
    whole, lies = tuple(shape), _format(tensors, arrays[0])
    if lies is contiguous_format:
        return np.concatenate([in_rows(a) for a in arrays], dim, POOL.empty(whole, d))
    return np.concatenate(arrays, dim, room(whole, format_strides(whole, lies), d))


@kernel("stack")
def stack(tensors: Any, dim: int = 0) -> Any:
    """Tensors one after another along a new dimension."""
    if tensors.__class__ is not Tensor and tensors:
        first = tensors[0].raw_data
        shape, d, rank = first.shape, first.dtype, first.ndim + 1
        if (
            -rank <= dim < rank
            and not (rank > 3 and 1 in shape)
            and _dense_alike(tensors, shape, d)
        ):
            at = dim % rank
            wanted = (*shape[:at], 1, *shape[at:])
            data = np.concatenate([t.raw_data.reshape(wanted) for t in tensors], at)
            return wrap(row_major(data), tensors[0].raw_dtype)
    return composition_of("stack")(tensors, dim)


def _dense_alike(tensors: Any, shape: Any, d: Any) -> bool:
    """Whether tensors are row-major, of one shape and NumPy dtype."""
    for t in tensors:
        a = t.raw_data
        if a.shape != shape or a.dtype is not d or not a.flags.c_contiguous:
            return False
    return True


def _cat_mixed(tensors: Any, dim: int) -> Any:
    """Concatenation with promotion, empty vectors and errors."""
    spec = rule_of("cat")(tensors, dim)
    parts = [cast(t, spec.dtype) for t in tensors if t.raw_shape != (0,) or spec.shape == (0,)]
    if not numel(spec.shape):
        return wrap(np.empty(spec.shape, NUMPY_OF[spec.dtype]), spec.dtype)
    data = row_major(np.concatenate(parts, dim))
    return laid_as(data, spec)
