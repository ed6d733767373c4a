"""Kernels of neural-network ops that are worth more than their decomposition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindtorch_core.dispatch.registry import registry

from ..arrays import NUMPY_OF, QUIET, WIDER, cast, row_major, wrap
from ..register import kernel, rule_of

_add_reduce: Any = np.add.reduce
_nll_forward: Any = registry.entry("nll_loss_forward").definition.decomposition  # type: ignore[union-attr]
_nll_backward: Any = registry.entry("nll_loss_backward").definition.decomposition  # type: ignore[union-attr]


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
    x, d = _prepared("softmax", self, dim, dtype)
    if not x.ndim:
        return wrap(np.ones((), NUMPY_OF[d]), d)
    QUIET.run(np.exp, x, x)
    QUIET.run(np.divide, x, np.add.reduce(x, dim, keepdims=True), x)
    return _finished(x, d)


@kernel("log_softmax")
def log_softmax(self: Any, dim: int, dtype: Any = None) -> Any:
    """Logarithm of the softmax."""
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
    g, x = _floats(grad_output, d), QUIET.run(np.exp, _floats(output, d))
    if not x.ndim:
        return wrap(np.zeros((), NUMPY_OF[input_dtype]), input_dtype)
    QUIET.run(np.multiply, x, _totals(g, dim), x)
    QUIET.run(np.subtract, g, x, x)
    return _finished(x, input_dtype)


def _floats(t: Any, d: Any) -> Any:
    a = cast(t, d)
    return a.astype(np.float32) if d in WIDER else a


def _totals(a: Any, dim: int) -> Any:
    return QUIET.run(_add_reduce, a, dim, None, None, True) if a.ndim else a


def _classes(input: Any, target: Any, weight: Any, ignore_index: int) -> Any:
    """Checked class indices, and the weight each element counts with (None for 1 everywhere).

    Raises:
        IndexError: if a target that is not ignored is no class.
    """
    t = target._data
    count = input.shape[0] if input.ndim == 1 else input.shape[1]
    if not 0 <= ignore_index < count and (not t.size or t.view(np.uint64).max() < count):
        return t, None if weight is None else weight._data[t]
    kept = t != ignore_index
    bad = kept & ((t < 0) | (t >= count))
    if bad.any():
        raise IndexError(f"Target {t[bad].flat[0]} is out of bounds.")
    safe = np.where(kept, t, 0)
    weights = kept.astype(input.dtype) if weight is None else weight._data[safe] * kept
    return safe, weights


def _positions(input: Any, classes: Any) -> Any:
    """Position of each element's class in the row-major input."""
    if input.ndim == 1:
        return classes
    inner = math.prod(input.shape[2:])
    rows = np.arange(0, input.size, input.shape[1] * inner).reshape(-1, *(1,) * (classes.ndim - 1))
    if inner == 1 and input.ndim == 2:
        return rows + classes
    return rows + classes * inner + np.arange(inner).reshape(classes.shape[1:])


@kernel("nll_loss_forward")
def nll_loss_forward(self: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    """Negative log likelihood and the total weight."""
    a, d = self._data, self._dtype
    if d in WIDER or not _regular(self, target, weight, reduction):
        return _nll_forward(self, target, weight, reduction, ignore_index)
    classes, weights = _classes(a, target, weight, ignore_index)
    picked = np.ascontiguousarray(a).reshape(-1).take(_positions(a, classes))
    count = picked.size
    if weights is not None:
        picked = QUIET.run(np.multiply, picked, weights)
    total = np.array(count if weights is None else weights.sum(), a.dtype)
    if not reduction:
        loss = QUIET.run(np.negative, picked)
    else:
        loss = QUIET.run(
            np.negative, np.add.reduce(picked, None) if count != 1 or picked.ndim else picked
        )
        if reduction == 1:
            loss = QUIET.run(np.divide, loss, total)
    return wrap(loss, d), wrap(total, d)


def _regular(input: Any, target: Any, weight: Any, reduction: str) -> bool:
    """Whether shapes and dtypes are right; otherwise the core's composition says what is not."""
    a, t = input._shape, target._shape
    at = min(len(a) - 1, 1)
    return bool(
        a and target._dtype.name == "int64" and t == a[:at] + a[at + 1 :]
        and reduction in (0, 1, 2)
        and (weight is None or (weight._shape == (a[at],) and weight._dtype is input._dtype))
    )  # fmt: skip


@kernel("nll_loss_backward")
def nll_loss_backward(
    grad_output: Any,
    self: Any,
    target: Any,
    weight: Any,
    reduction: int,
    ignore_index: int,
    total_weight: Any,
) -> Any:
    """Gradient of the loss for its input: the negative weight at each element's class."""
    a, d = self._data, self._dtype
    if d in WIDER:
        return _nll_backward(
            grad_output, self, target, weight, reduction, ignore_index, total_weight
        )
    classes, weights = _classes(a, target, weight, ignore_index)
    share = QUIET.run(np.negative, grad_output._data)
    if reduction == 1:
        share = QUIET.run(np.divide, share, total_weight._data)
    if weights is not None:
        share = np.where(
            weights == 0, weights.dtype.type(0), QUIET.run(np.multiply, share, weights)
        )
    out = np.zeros(a.shape, a.dtype)
    out.reshape(-1)[_positions(a, classes)] = share
    return wrap(out, d)
