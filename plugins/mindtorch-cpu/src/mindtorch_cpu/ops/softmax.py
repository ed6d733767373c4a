"""Softmax, its logarithm and their gradients; large ones by blocks that fit the cache."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

import numpy as np

from ..arrays import NUMPY_OF, QUIET, WIDER, cast, recast, recast_into, row_major, wrap
from ..bound_calls import Trace
from ..compiled import FEWEST, computed, computed_rows
from ..large import LARGE
from ..many_columns import sums_of_groups, tops
from ..memory_pool import POOL
from ..native.quick import exponential
from ..register import kernel, rule_of
from ..rows import LONG_BLOCK, dots, in_rows, over_blocks, sums
from ..short_rows import reduce_rows
from ..summation import FEW, down, naive, total

# Rows of fewer elements are not worth a kernel's calls.
_NARROW: Final = 4
_add_reduce: Any = np.add.reduce
_greatest: Any = np.maximum.reduce


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
    shape = tensors[0].raw_shape
    lines = [in_rows(row_major(t.raw_data), dim) for t in tensors]
    out = POOL.empty(shape, NUMPY_OF[d])
    target = in_rows(out, dim)
    length, inside = target.shape[1:]
    if inside == 1:
        lines, target = [a[:, :, 0] for a in lines], target[:, :, 0]
        alike = all(a.dtype == target.dtype for a in lines)
        key, trace = _traced(compute, _FUSED[compute], half=target.dtype != wide)
        if length >= _NARROW and alike and computed_rows(key, trace, lines, [target]):
            return wrap(out, d)

    def block(at: Any) -> None:
        parts = [a[at] if a.dtype == wide else recast(a[at], wide) for a in lines]
        y = target[at] if target.dtype == wide else np.empty(parts[0].shape, wide)
        compute(y, *parts)
        if target.dtype != wide:
            recast_into(y, target[at])

    if inside == 1:
        over_blocks(block, len(target), length)
    elif length * inside <= LONG_BLOCK:
        over_blocks(block, len(target), length * inside, LONG_BLOCK)
    else:
        for i in range(len(target)):
            here = slice(i, i + 1)
            over_blocks(
                lambda part, here=here: block((here, slice(None), part)),  # type: ignore[misc]
                inside,
                length,
                LONG_BLOCK,
            )
    return wrap(out, d)


def _traced(key: Hashable, trace: Trace, *, half: bool) -> tuple[Hashable, Trace]:
    """What a kernel computes, and what identifies it; half precision in float32, and rounded once."""

    def rounded(tracer: Any, *parts: Any) -> list[Any]:
        found = trace(tracer, *[part.astype(np.float32) for part in parts])
        return [each.astype(parts[0].dtype) for each in found]

    return ((key, "in single"), rounded) if half else (key, trace)


def _sums(x: Any, y: Any = None) -> Any:
    """Sums along the second dimension, of ``x * y`` where there are two."""
    if x.ndim == 2:
        return (sums(x) if y is None else dots(x, y))[:, None]
    return down(x, y)[:, None] if x.shape[1] > FEW else sums_of_groups(x, 1, x.shape[1], y)


def _tops(x: Any) -> Any:
    return tops(x) if x.ndim == 3 else reduce_rows(np.maximum, x, 1, keepdims=True)


def _each(out: Any, formula: Callable[..., Any], *operands: Any) -> Any:
    """Write a formula of each element, by a kernel where there is one; operands broadcast."""
    if not computed(formula, lambda tracer, *parts: [formula(*parts)], operands, [out]):
        np.copyto(out, formula(*operands))
    return out


def _exp_below(x: Any, top: Any) -> Any:
    return exponential(np.subtract(x, top), falling=True)


def _log_share(x: Any, top: Any, total: Any) -> Any:
    return np.subtract(np.subtract(x, top), total)


def _log_slope(g: Any, y: Any, total: Any) -> Any:
    return np.subtract(g, np.multiply(exponential(y), total))


def _slope(g: Any, y: Any, total: Any) -> Any:
    return np.multiply(np.subtract(g, total), y)


def _softmax_block(y: Any, x: Any) -> None:
    _each(y, _exp_below, x, _tops(x))
    np.multiply(y, 1 / _sums(y), y)


def _log_softmax_block(y: Any, x: Any) -> None:
    top = _tops(x)
    _each(y, _log_share, x, top, np.log(_sums(_each(y, _exp_below, x, top))))


def _softmax_backward_block(out: Any, g: Any, y: Any) -> None:
    _each(out, _slope, g, y, _sums(g, y))


def _log_softmax_backward_block(out: Any, g: Any, y: Any) -> None:
    _each(out, _log_slope, g, y, _sums(g))


def _below_maximum(tracer: Any, x: Any) -> Any:
    return np.subtract(x, tracer.reduced("row_max", x))


# What compiled kernels compute of rows: the same, step by step.
_FUSED: dict[Any, Callable[..., Any]] = {
    _softmax_block: lambda tracer, x: [
        np.multiply(
            e := exponential(_below_maximum(tracer, x), falling=True),
            1 / tracer.reduced("row_sum", e),
        )
    ],
    _log_softmax_block: lambda tracer, x: [
        np.subtract(
            y := _below_maximum(tracer, x),
            np.log(tracer.reduced("row_sum", exponential(y, falling=True))),
        )
    ],
    _softmax_backward_block: lambda tracer, g, y: [
        np.multiply(np.subtract(g, tracer.reduced("row_dot", g, y)), y)
    ],
    _log_softmax_backward_block: lambda tracer, g, y: [
        _log_slope(g, y, tracer.reduced("row_sum", g))
    ],
}
# The same of few elements, where sums are NumPy's.
_FEW: dict[str, Callable[..., Any]] = {
    "softmax": lambda tracer, x: [
        np.divide(e := np.exp(_below_maximum(tracer, x)), tracer.reduced("row_add", e))
    ],
    "log_softmax": lambda tracer, x: [
        np.subtract(y := _below_maximum(tracer, x), np.log(tracer.reduced("row_add", np.exp(y))))
    ],
    "_softmax_backward_data": lambda tracer, g, y: [
        np.subtract(w := np.multiply(g, y), np.multiply(y, tracer.reduced("row_add", w)))
    ],
    "_log_softmax_backward_data": lambda tracer, g, y: [
        np.subtract(g, np.multiply(np.exp(y), tracer.reduced("row_add", g)))
    ],
}

# For explanations: what a kernel computes of many elements, and of how many operands.
OF_ROWS: dict[str, tuple[Callable[..., Any], int]] = {
    "softmax": (_FUSED[_softmax_block], 1),
    "log_softmax": (_FUSED[_log_softmax_block], 1),
    "_softmax_backward_data": (_FUSED[_softmax_backward_block], 2),
    "_log_softmax_backward_data": (_FUSED[_log_softmax_backward_block], 2),
}


def _few_in_one_pass(name: str, d: Any, dim: int, *tensors: Any) -> Any:
    """The result for few elements whose rows are the last dimension, by a compiled kernel; None without."""
    first = tensors[0]
    a = first.raw_data
    shape = a.shape
    if (
        a.size < FEWEST
        or dim not in (-1, len(shape) - 1)
        or any(t.raw_dtype is not d or t.raw_shape != shape for t in tensors)
    ):
        return None
    arrays = [t.raw_data for t in tensors]
    out = np.empty(shape, a.dtype)
    lines = [*arrays, out]
    if len(shape) != 2:
        if not all(a.flags.c_contiguous for a in arrays):
            return None
        lines = [each.reshape(-1, shape[-1]) for each in lines]
    key, trace = _traced(name, _FEW[name], half=d in WIDER)
    return wrap(out, d) if computed_rows(key, trace, lines[:-1], lines[-1:]) else None


# ---- kernels ------------------------------------------------------------------------------------


def _prepared(name: str, self: Any, dim: int, dtype: Any) -> tuple[Any, Any]:
    """The input minus its maximum along the dimension, and the result's dtype."""
    d = rule_of(name)(self, dim, dtype).dtype
    a = cast(self, d)
    if d in WIDER:
        a = recast(a, np.float32)
    if not a.size or not a.ndim:
        return QUIET.run(np.subtract, a, a), d
    a = row_major(a)
    return QUIET.run(np.subtract, a, _greatest(a, dim, None, None, True)), d


def _finished(data: Any, d: Any) -> Any:
    return wrap(row_major(data.astype(NUMPY_OF[d], copy=False)), d)


@kernel("softmax")
def softmax(self: Any, dim: int, dtype: Any = None) -> Any:
    """Exponentials scaled to sum 1."""
    if self.raw_data.size >= LARGE:
        d = rule_of("softmax")(self, dim, dtype).dtype
        given = self if dtype is None else wrap(cast(self, d), d)
        return _in_blocks(_softmax_block, d, dim, given)
    if dtype is None or dtype is self.raw_dtype:
        found = _few_in_one_pass("softmax", self.raw_dtype, dim, self)
        if found is not None:
            return found
    x, d = _prepared("softmax", self, dim, dtype)
    if not x.ndim:
        return _finished(x + 1, d)  # or NaN, as of more than one
    run = QUIET.__dict__["run"]
    run(np.exp, x, x)
    run(np.divide, x, _totals(x, dim), x)
    return _finished(x, d)


@kernel("log_softmax")
def log_softmax(self: Any, dim: int, dtype: Any = None) -> Any:
    """Logarithm of the softmax."""
    if self.raw_data.size >= LARGE:
        d = rule_of("log_softmax")(self, dim, dtype).dtype
        given = self if dtype is None else wrap(cast(self, d), d)
        return _in_blocks(_log_softmax_block, d, dim, given)
    if dtype is None or dtype is self.raw_dtype:
        found = _few_in_one_pass("log_softmax", self.raw_dtype, dim, self)
        if found is not None:
            return found
    x, d = _prepared("log_softmax", self, dim, dtype)
    if not x.ndim:
        return _finished(x, d)
    run = QUIET.__dict__["run"]
    run(np.subtract, x, run(np.log, _totals(run(np.exp, x), dim)), x)
    return _finished(x, d)


@kernel("_softmax_backward_data")
def softmax_backward(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    """Gradient of the softmax from its output."""
    d = output.raw_dtype
    if _large(grad_output, output, input_dtype):
        return _in_blocks(_softmax_backward_block, d, dim, grad_output, output)
    if input_dtype is d:
        found = _few_in_one_pass("_softmax_backward_data", d, dim, grad_output, output)
        if found is not None:
            return found
    g, y = _floats(grad_output, d), _floats(output, d)
    if not y.ndim:
        return _finished(g * y * (1 - y), input_dtype)
    run = QUIET.__dict__["run"]
    weighted = run(np.multiply, g, y)
    run(np.subtract, weighted, run(np.multiply, y, _totals(weighted, dim)), weighted)
    return _finished(weighted, input_dtype)


@kernel("_log_softmax_backward_data")
def log_softmax_backward(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    """Gradient of the log-softmax from its output."""
    d = output.raw_dtype
    if _large(grad_output, output, input_dtype):
        return _in_blocks(_log_softmax_backward_block, d, dim, grad_output, output)
    if input_dtype is d:
        found = _few_in_one_pass("_log_softmax_backward_data", d, dim, grad_output, output)
        if found is not None:
            return found
    run = QUIET.__dict__["run"]
    g, x = _floats(grad_output, d), run(np.exp, _floats(output, d))
    if not x.ndim:
        return _finished(g * (1 - x), input_dtype)
    run(np.multiply, x, _totals(g, dim), x)
    run(np.subtract, g, x, x)
    return _finished(x, input_dtype)


def _large(grad_output: Any, output: Any, d: Any) -> bool:
    """Whether a gradient is computed by blocks: operands and result are of one dtype and shape."""
    return bool(
        output.raw_data.size >= LARGE
        and grad_output.raw_shape == output.raw_shape
        and grad_output.raw_dtype is output.raw_dtype is d
    )


def _floats(t: Any, d: Any) -> Any:
    a = cast(t, d)
    return recast(a, np.float32) if d in WIDER else a


def _totals(a: Any, dim: int) -> Any:
    if dim == a.ndim - 1 >= 0 and a.flags.c_contiguous:
        return QUIET.run(_add_reduce, a, dim, None, None, True)
    if not a.ndim:
        return a
    axis = (dim % a.ndim,)
    return total(a, axis) if naive(a, axis) else QUIET.run(_add_reduce, a, axis, None, None, True)
