"""Kernels of neural-network ops that are worth more than their decomposition."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from mindtorch_core.backend import FLOATING, int64, uint8

from ..arrays import QUIET, WIDER, wrap
from ..register import composition_of, kernel

_greatest: Any = np.maximum.reduce
_added: Any = np.add.reduce
_nll_forward: Any = composition_of("nll_loss_forward")
_nll_backward: Any = composition_of("nll_loss_backward")


def _classes(input: Any, target: Any, weight: Any, ignore_index: int) -> Any:
    """Checked class indices, and the weight each element counts with (None for 1 everywhere).

    Raises:
        IndexError: if a target that is not ignored is no class.
    """
    t = target.raw_data
    if target.raw_dtype is not int64:
        t = t.astype(np.int64)
    count = input.shape[0] if input.ndim == 1 else input.shape[1]
    outside = not 0 <= ignore_index < count
    if outside and (not t.size or _greatest(t.view(np.uint64), None) < count):
        return t, None if weight is None else weight.raw_data[t]
    kept = t != ignore_index
    bad = kept & ((t < 0) | (t >= count))
    if bad.any():
        raise IndexError(f"Target {t[bad].flat[0]} is out of bounds.")
    safe = np.where(kept, t, 0)
    weights = kept.astype(input.dtype) if weight is None else weight.raw_data[safe] * kept
    return safe, weights


def _positions(input: Any, classes: Any) -> Any:
    """Position of each element's class in the row-major input."""
    if input.ndim == 1:
        return classes
    inner = math.prod(input.shape[2:])
    step = input.shape[1] * inner
    rows = np.arange(0, input.size, step) if step else np.zeros(input.shape[0], np.int64)
    if input.ndim == 2:
        return np.add(rows, classes, rows)
    rows = rows.reshape(-1, *(1,) * (classes.ndim - 1))
    return rows + classes * inner + np.arange(inner).reshape(classes.shape[1:])


def _of_matrix(a: Any, classes: Any, ignore_index: int) -> Any:
    """Position of each row's class in a matrix read row by row; None for others, and where a row has none."""
    if a.ndim != 2 or not classes.size or classes.dtype != np.int64:
        return None
    count = a.shape[1]
    if 0 <= ignore_index < count or _greatest(classes.view(np.uint64)) >= count:
        return None
    return _rows(len(a), count) + classes


@lru_cache(maxsize=16)
def _rows(count: int, width: int) -> Any:
    """Where the rows of a matrix begin."""
    return np.arange(0, count * width, width)


@kernel("nll_loss_forward")
def nll_loss_forward(self: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    """Negative log likelihood and the total weight."""
    a, d = self.raw_data, self.raw_dtype
    if not _regular(self, target, weight, reduction):
        return _nll_forward(self, target, weight, reduction, ignore_index)
    if reduction and weight is None and d not in WIDER:
        places = _of_matrix(a, target.raw_data, ignore_index)
        if places is not None:
            loss, count = 0 - QUIET.run(_added, a.take(places)), a.dtype.type(len(places))
            mean = loss / count if reduction == 1 else loss
            return wrap(np.array(mean), d), wrap(np.array(count), d)
    classes, weights = _classes(a, target, weight, ignore_index)
    if d in WIDER:
        return _nll_forward(self, target, weight, reduction, ignore_index)
    run = QUIET.__dict__["run"]
    losses = run(np.negative, np.ascontiguousarray(a).reshape(-1).take(_positions(a, classes)))
    if weights is not None:  # what is ignored may be NaN or infinite
        losses = np.where(target.raw_data == ignore_index, 0, run(np.multiply, losses, weights))
    total = np.array(losses.size if weights is None else weights.sum(), a.dtype)
    loss = losses if not reduction else run(_added, losses, None)
    if reduction == 1:
        loss = run(np.divide, loss, total)
    return wrap(np.asarray(loss, a.dtype), d), wrap(total, d)


def _regular(input: Any, target: Any, weight: Any, reduction: int) -> bool:
    """Whether shapes and dtypes are right; otherwise the core's composition says what is not."""
    a, t = input.raw_shape, target.raw_shape
    if (
        len(a) == 2 and weight is None and t == a[:1] and target.raw_dtype is int64
        and input.raw_dtype.category == FLOATING and 0 <= reduction <= 2
    ):  # fmt: skip
        return True
    at = min(len(a) - 1, 1)
    return bool(
        a and input.raw_dtype.category == FLOATING
        and target.raw_dtype in (int64, uint8) and t == a[:at] + a[at + 1 :]
        and reduction in (0, 1, 2)
        and (weight is None or (weight.raw_shape == (a[at],) and weight.raw_dtype is input.raw_dtype))
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
    a, d = self.raw_data, self.raw_dtype
    if d in WIDER or not _regular(self, target, weight, reduction):
        return _nll_backward(
            grad_output, self, target, weight, reduction, ignore_index, total_weight
        )
    run = QUIET.__dict__["run"]
    share = run(np.negative, grad_output.raw_data)
    if reduction == 1:
        share = run(np.divide, share, total_weight.raw_data)
    out = np.zeros(a.shape, a.dtype)
    places = None if weight is not None else _of_matrix(a, target.raw_data, ignore_index)
    if places is None:
        classes, weights = _classes(a, target, weight, ignore_index)
        if weights is not None:
            share = np.where(weights == 0, weights.dtype.type(0), run(np.multiply, share, weights))
        places = _positions(a, classes)
    out.put(places, share)
    return wrap(out, d)
