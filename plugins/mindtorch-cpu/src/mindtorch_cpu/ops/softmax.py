"""Softmax, its logarithm and their gradients; large ones by blocks that fit the cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import NUMPY_OF, QUIET, WIDER, cast, row_major, wrap
from ..large import LARGE
from ..pool import POOL
from ..register import kernel, rule_of
from ..rows import BLOCK, dots, in_rows, over_blocks, sums

_add_reduce: Any = np.add.reduce


# ---- blocks: (lines, length) or (lines, length, inside), in the dtype that is computed in -------


def _in_blocks(compute: Callable[..., None], d: Any, dim: int, *tensors: Any) -> Any:
    """The result of a large op along a dimension.

    Args:
        compute: ``compute(out, *blocks)`` writes a block of the result.
        d: dtype of the result.
        dim: the dimension that becomes the second of a block.
        tensors: operands of one shape, of floating dtypes.
    """
    wide = NUMPY_OF[WIDER.get(d, d)]
    shape = tensors[0]._shape
    lines = [in_rows(row_major(t._data), dim) for t in tensors]
    out = POOL.empty(shape, NUMPY_OF[d])
    target = in_rows(out, dim)
    length, inside = target.shape[1:]
    if inside == 1:
        lines, target = [a[:, :, 0] for a in lines], target[:, :, 0]

    def block(at: Any) -> None:
        parts = [a[at] if a.dtype == wide else a[at].astype(wide) for a in lines]
        y = target[at] if target.dtype == wide else np.empty(parts[0].shape, wide)
        compute(y, *parts)
        if target.dtype != wide:
            target[at] = y

    if inside == 1 or length * inside <= 4 * BLOCK:
        over_blocks(block, len(target), length * inside)
    else:
        for i in range(len(target)):
            here = slice(i, i + 1)
            over_blocks(
                lambda part, here=here: block((here, slice(None), part)),  # type: ignore[misc]
                inside,
                length,
            )
    return wrap(out, d)


def _sums(x: Any) -> Any:
    return sums(x)[:, None] if x.ndim == 2 else _add_reduce(x, 1, None, None, True)


def _within(x: Any, bound: float) -> bool:
    """Whether all elements are of small size; not if one is NaN."""
    return bool(np.maximum.reduce(x, None) <= bound and np.minimum.reduce(x, None) >= -bound)


def _softmax_block(y: Any, x: Any) -> None:
    if _within(x, 40):  # no exponential overflows or loses digits, so nothing is subtracted
        np.exp(x, y)
    else:
        np.subtract(x, np.maximum.reduce(x, 1, keepdims=True), y)
        np.exp(y, y)
    np.multiply(y, 1 / _sums(y), y)


def _log_softmax_block(y: Any, x: Any) -> None:
    if not _within(x, 8):  # with larger maxima, differences of logarithms would lose digits
        x = np.subtract(x, np.maximum.reduce(x, 1, keepdims=True), y)
    np.subtract(x, np.log(_sums(np.exp(x))), y)


def _softmax_backward_block(out: Any, g: Any, y: Any) -> None:
    total = dots(g, y)[:, None] if g.ndim == 2 else _sums(np.multiply(g, y, out))
    np.multiply(np.subtract(g, total, out), y, out)


def _log_softmax_backward_block(out: Any, g: Any, y: Any) -> None:
    np.multiply(np.exp(y, out), _sums(g), out)
    np.subtract(g, out, out)


# ---- kernels ------------------------------------------------------------------------------------


def _prepared(name: str, self: Any, dim: int, dtype: Any) -> tuple[Any, Any]:
    """The input minus its maximum along the dimension, and the result's dtype."""
    d = rule_of(name)(self, dim, dtype).dtype
    a = cast(self, d)
    if d in WIDER:
        a = a.astype(np.float32)
    if not a.size or not a.ndim:
        return a - a, d
    a = row_major(a)
    return QUIET.run(np.subtract, a, np.maximum.reduce(a, dim, keepdims=True)), d


def _finished(data: Any, d: Any) -> Any:
    return wrap(row_major(data.astype(NUMPY_OF[d], copy=False)), d)


@kernel("softmax")
def softmax(self: Any, dim: int, dtype: Any = None) -> Any:
    """Exponentials scaled to sum 1."""
    if self._data.size >= LARGE:
        d = rule_of("softmax")(self, dim, dtype).dtype
        return _in_blocks(_softmax_block, d, dim, self if dtype is None else wrap(cast(self, d), d))
    x, d = _prepared("softmax", self, dim, dtype)
    if not x.ndim:
        return wrap(np.ones((), NUMPY_OF[d]), d)
    QUIET.run(np.exp, x, x)
    QUIET.run(np.divide, x, np.add.reduce(x, dim, keepdims=True), x)
    return _finished(x, d)


@kernel("log_softmax")
def log_softmax(self: Any, dim: int, dtype: Any = None) -> Any:
    """Logarithm of the softmax."""
    if self._data.size >= LARGE:
        d = rule_of("log_softmax")(self, dim, dtype).dtype
        given = self if dtype is None else wrap(cast(self, d), d)
        return _in_blocks(_log_softmax_block, d, dim, given)
    x, d = _prepared("log_softmax", self, dim, dtype)
    if not x.ndim:
        return wrap(np.zeros((), NUMPY_OF[d]), d)
    total = np.add.reduce(QUIET.run(np.exp, x), dim, keepdims=True)
    QUIET.run(np.subtract, x, QUIET.run(np.log, total), x)
    return _finished(x, d)


@kernel("_softmax_backward_data")
def softmax_backward(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    """Gradient of the softmax from its output."""
    d = output._dtype
    if _large(grad_output, output, input_dtype):
        return _in_blocks(_softmax_backward_block, d, dim, grad_output, output)
    g, y = _floats(grad_output, d), _floats(output, d)
    if not y.ndim:
        return wrap(np.zeros((), NUMPY_OF[input_dtype]), input_dtype)
    weighted = QUIET.run(np.multiply, g, y)
    QUIET.run(np.subtract, weighted, QUIET.run(np.multiply, y, _totals(weighted, dim)), weighted)
    return _finished(weighted, input_dtype)


@kernel("_log_softmax_backward_data")
def log_softmax_backward(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    """Gradient of the log-softmax from its output."""
    d = output._dtype
    if _large(grad_output, output, input_dtype):
        return _in_blocks(_log_softmax_backward_block, d, dim, grad_output, output)
    g, x = _floats(grad_output, d), QUIET.run(np.exp, _floats(output, d))
    if not x.ndim:
        return wrap(np.zeros((), NUMPY_OF[input_dtype]), input_dtype)
    QUIET.run(np.multiply, x, _totals(g, dim), x)
    QUIET.run(np.subtract, g, x, x)
    return _finished(x, input_dtype)


def _large(grad_output: Any, output: Any, d: Any) -> bool:
    """Whether a gradient is computed by blocks: operands and result are of one dtype and shape."""
    return bool(
        output._data.size >= LARGE
        and grad_output._shape == output._shape
        and grad_output._dtype is output._dtype is d
    )


def _floats(t: Any, d: Any) -> Any:
    a = cast(t, d)
    return a.astype(np.float32) if d in WIDER else a


def _totals(a: Any, dim: int) -> Any:
    return QUIET.run(_add_reduce, a, dim, None, None, True) if a.ndim else a
