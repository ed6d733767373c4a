"""Attention by blocks of scores that fit the cache; its gradient computes them once more."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from ..arrays import NUMPY_OF, WIDER, quietly, room, wrap
from ..blas import TINY, alone
from ..compiled import FEWEST, computed_rows
from ..memory_pool import POOL
from ..register import composition_of, kernel, rule_of
from ..rows import BLOCK, dots, spread, sums, unbuffered
from ..workers import share_out
from .linalg import for_blas

_NAME: Final = "_scaled_dot_product_flash_attention_for_cpu"
_composed: Any = composition_of(_NAME)
_composed_backward: Any = composition_of(f"{_NAME}_backward")
_SAFE: Final = 40.0  # scores up to here need no maximum taken off: no exponential overflows

_FOR_KERNELS: Final = 1 << 18  # multiplications; fewer are not worth a compiler
_FEW: Final = 1 << 10  # elements that a broadcast quotient costs less than to repeat its divisors
# Under a causal mask blocks of fewer rows compute fewer scores that nobody sees; BLAS wants some.
_CAUSAL_ROWS: Final = 32
_CAUSAL_BLOCKS: Final = 8
_PARTS: Final = 4  # into which a batch is cut at least, for threads


class _Part(NamedTuple):
    """Some heads of some of a batch's elements, which one thread computes: rows of scores after rows."""

    at: slice
    heads: slice


_WHOLE: Final = [_Part(slice(None), slice(None))]


class _Task(NamedTuple):
    """What is the same for all parts; operands of half precision are widened part by part."""

    q: Any
    k: Any
    v: Any
    causal: bool
    mask: Any
    scale: Any
    rows: int  # of scores at a time
    d: Any  # NumPy dtype of the scores

    def blocks(self) -> Iterator[tuple[slice, int]]:
        """Rows, and how many columns they see at most."""
        length, columns = self.q.shape[2], self.k.shape[2]
        for first in range(0, length, self.rows):
            last = min(first + self.rows, length)
            yield slice(first, last), min(columns, last) if self.causal else columns

    def wide(self, a: Any) -> Any:
        """An array in the dtype of the scores."""
        return a if a.dtype == self.d else a.astype(self.d)

    def scores(self, part: _Part, rows: slice, k: Any) -> tuple[Any, Any]:
        """Scaled queries, and what they score with keys; a causal mask is not applied yet."""
        at, heads = part
        q = self.q[at, heads, rows].astype(self.d)
        np.multiply(q, self.scale, q)
        found = np.matmul(q, k.swapaxes(2, 3))
        seen = k.shape[2]
        if self.mask is not None:
            mask = self.mask[at, heads, rows, :seen]
            if mask.dtype == np.bool_:
                np.copyto(found, -np.inf, where=np.logical_not(mask))
            else:
                np.add(found, self.wide(mask), found)
        return q, found


def _task(q: Any, k: Any, v: Any, causal: bool, mask: Any, scale: Any) -> tuple[_Task, list[_Part]]:
    batch, heads, length, _ = q.raw_shape
    columns = k.raw_shape[2]
    d = NUMPY_OF[WIDER.get(q.raw_dtype, q.raw_dtype)]
    if mask is not None:
        mask = np.broadcast_to(mask.raw_data, (batch, heads, length, columns))
    factor = d.type(_factor(q, scale))
    operands = for_blas(q.raw_data), for_blas(k.raw_data), for_blas(v.raw_data)
    if q.raw_data.size * columns <= TINY and batch * heads * length * columns <= BLOCK:
        return _Task(*operands, causal, mask, factor, length, d), _WHOLE
    rows = min(length, max(16, BLOCK // columns))
    if causal:
        rows = min(rows, max(_CAUSAL_ROWS, length // _CAUSAL_BLOCKS))
    together = max(1, BLOCK // (rows * columns))
    step = max(1, min(together // heads, batch // _PARTS))
    together = min(together, heads)
    parts = [
        _Part(slice(at, at + step), slice(h, h + together))
        for at in range(0, batch, step)
        for h in range(0, heads, together)
    ]
    return _Task(*operands, causal, mask, factor, rows, d), parts


@functools.lru_cache(32)
def _hidden(rows: int, columns: int) -> Any:
    """Which scores of a block at the diagonal a causal mask hides."""
    made = np.triu(np.ones((rows, columns), np.bool_), 1)
    made.flags.writeable = False
    return made


@functools.lru_cache(32)
def _factors(rows: int, columns: int, d: Any) -> Any:
    """1 for what is seen at the diagonal, 0 for what is hidden."""
    made = np.logical_not(_hidden(rows, columns)).astype(d)
    made.flags.writeable = False
    return made


@functools.lru_cache(32)
def _penalties(rows: int, columns: int, d: Any) -> Any:
    """0 for what is seen at the diagonal, minus infinity for what is hidden."""
    made = np.where(_hidden(rows, columns), d.type(-np.inf), d.type(0))
    made.flags.writeable = False
    return made


def _exponentials(scores: Any, rows: slice, task: _Task) -> Any:
    """Replace scores by exponentials; what was taken off before, (..., rows, 1) or 0."""
    flat = scores.reshape(-1)  # along one dimension a reduction begins sooner
    least, most = np.minimum.reduce(flat), np.maximum.reduce(flat)
    corner = scores[..., rows.start :] if task.causal else scores
    if least >= -_SAFE and most <= _SAFE:
        np.exp(scores, scores)
        if task.causal and corner.shape[3]:
            np.multiply(corner, _factors(*corner.shape[2:], scores.dtype), corner)
        return scores.dtype.type(0)
    if task.causal and corner.shape[3]:
        np.copyto(corner, -np.inf, where=_hidden(*corner.shape[2:]))
    highest = np.maximum.reduce(scores, 3, keepdims=True)
    if task.mask is not None:
        highest[highest == -np.inf] = 0
    np.exp(np.subtract(scores, spread(highest, scores.shape[3]), scores), scores)
    return highest


def _by_rows(name: str, compute: Callable[..., Any], scores: Any, column: Any, *others: Any) -> Any:
    """What a function makes of scores, a column and arrays like the scores; it may write over them."""
    width = scores.shape[3]
    column = np.ascontiguousarray(column)
    lines = [each.reshape(-1, width) for each in (scores, *others)]
    lines.insert(1, column.reshape(-1, 1))
    if scores.size >= FEWEST:
        made = np.empty(scores.shape, scores.dtype)
        key = f"attention {name}"

        def trace(tracer: Any, x: Any, *rest: Any) -> list[Any]:
            return [compute(x, *rest, None)]

        if computed_rows(key, trace, lines, [made.reshape(-1, width)]):
            return made
    return compute(scores, spread(column, width), *others, scores)


def _weights(scores: Any, total: Any, out: Any) -> Any:
    return np.exp(np.subtract(scores, total, out), out)


def _slopes(slope: Any, along: Any, weights: Any, out: Any) -> Any:
    return np.multiply(np.subtract(slope, along, out), weights, out)


def _kernels(q: Any, k: Any) -> Any:
    """The module of compiled kernels where they serve arrays, or None."""
    if q.size * k.shape[2] < _FOR_KERNELS:
        return None
    from . import attention_kernels  # loaded with the first that is large

    return attention_kernels if attention_kernels.fits(q, k) else None


def _factor(query: Any, scale: Any) -> float:
    return 1 / math.sqrt(query.raw_shape[3]) if scale is None else scale


def _array(mask: Any) -> Any:
    return None if mask is None else mask.raw_data


def _served(*tensors: Any) -> bool:
    d = tensors[0].raw_dtype
    return all(t.raw_dtype is d and t.raw_data.size for t in tensors)


def _matches(logsumexp: Any, out: Any) -> bool:
    return logsumexp.raw_dtype is WIDER.get(out.raw_dtype, out.raw_dtype)


def _made(t: Any) -> Any:
    """Memory for a gradient (batch, heads, length, features), the heads next to each other."""
    batch, heads, length, width = t.raw_shape
    return POOL.empty((batch, length, heads, width), t.raw_data.dtype).swapaxes(1, 2)


@kernel(_NAME)
def attention(
    query: Any, key: Any, value: Any, dropout_p: float = 0.0, is_causal: bool = False, *,
    attn_mask: Any = None, scale: Any = None,
) -> Any:  # fmt: skip
    """Weights are scaled after they have met the values."""
    result, spec = rule_of(_NAME)(
        query, key, value, dropout_p, is_causal, attn_mask=attn_mask, scale=scale
    )
    q, k, v = query.raw_data, key.raw_data, value.raw_data
    if not q.size or not k.size or result.strides[3] != 1:
        return _composed(query, key, value, dropout_p, is_causal, attn_mask=attn_mask, scale=scale)
    out = room(q.shape, result.strides, q.dtype)
    batch, heads, length = spec.shape
    total = np.empty((batch, length, heads), NUMPY_OF[spec.dtype]).swapaxes(1, 2)
    kernels = _kernels(q, k)
    if kernels is not None and kernels.forward(
        q, k, v, is_causal, _array(attn_mask), _factor(query, scale), out, total
    ):
        return wrap(out, query.raw_dtype), wrap(total, spec.dtype)
    usual = attn_mask is None and not is_causal and spec.dtype is query.raw_dtype
    if usual and q.size < _FEW and q.size * k.shape[2] <= TINY:
        quietly(_by_whole, q, k, v, _factor(query, scale), out, total)
        return wrap(out, query.raw_dtype), wrap(total, spec.dtype)
    task, parts = _task(query, key, value, is_causal, attn_mask, scale)

    def work(part: _Part) -> None:
        at, heads = part
        k, v = task.wide(task.k[at, heads]), task.wide(task.v[at, heads])
        for rows, seen in task.blocks():
            _, weights = task.scores(part, rows, k[:, :, :seen])
            taken = _exponentials(weights, rows, task)
            divisor = sums(weights)[..., None]
            met = np.matmul(weights, v[:, :, :seen])
            np.add(np.log(divisor), taken, out=total[at, heads, rows, None])
            if task.mask is not None:
                divisor[divisor == 0] = 1
            if met.size < _FEW and met.dtype == out.dtype:
                np.divide(met, divisor, out[at, heads, rows])
                continue
            np.divide(met, spread(divisor, met.shape[3]), met)
            out[at, heads, rows] = met if met.dtype == out.dtype else met.astype(out.dtype)

    _over(parts, work, task)
    return wrap(out, query.raw_dtype), wrap(total, spec.dtype)


def _by_whole(q: Any, k: Any, v: Any, factor: float, out: Any, total: Any) -> None:
    """Few rows, each of which sees all columns, in as few calls of NumPy as it takes."""
    weights = np.matmul(np.multiply(q, factor), k.swapaxes(2, 3))
    highest = np.maximum.reduce(weights, 3, keepdims=True)
    np.exp(np.subtract(weights, highest, weights), weights)
    divisor = np.add.reduce(weights, 3, keepdims=True)
    np.divide(np.matmul(weights, v), divisor, out)
    np.add(np.log(divisor), highest, total[..., None])


def _in(out: Any, found: Any) -> Any:
    """An array in the dtype of another one, as casts within writes are slow here."""
    return found.astype(out.dtype, copy=False)


def _over(parts: list[_Part], work: Callable[[_Part], None], task: _Task) -> None:
    """Work on parts, by threads where there is enough to do."""
    if task.q.size * task.k.shape[2] <= TINY:  # for BLAS as well
        for part in parts:
            unbuffered(work, part)
    else:
        alone(share_out, lambda part: unbuffered(work, part), parts)


@kernel(f"{_NAME}_backward")
def attention_backward(
    grad_out: Any, query: Any, key: Any, value: Any, out: Any, logsumexp: Any, dropout_p: float,
    is_causal: bool, *, attn_mask: Any = None, scale: Any = None,
) -> Any:  # fmt: skip
    """Gradients of keys and values add up from rows to rows."""
    if not _served(grad_out, query, key, value, out) or not _matches(logsumexp, out):
        return _composed_backward(
            grad_out, query, key, value, out, logsumexp, dropout_p, is_causal,
            attn_mask=attn_mask, scale=scale,
        )  # fmt: skip
    of_q, of_k, of_v = results = tuple(_made(t) for t in (query, key, value))
    total = logsumexp.raw_data
    if attn_mask is not None:
        total = np.where(total == -np.inf, np.inf, total)  # rows without scores have no weights
    q, k, v, g, made = (t.raw_data for t in (query, key, value, grad_out, out))
    kernels = _kernels(q, k)
    if kernels is not None and kernels.backward(
        g, q, k, v, made, total, is_causal, _array(attn_mask), _factor(query, scale), results
    ):
        return tuple(wrap(t, query.raw_dtype) for t in results)
    task, parts = _task(query, key, value, is_causal, attn_mask, scale)
    g = for_blas(g)

    def work(part: _Part) -> None:
        at, heads = part
        k, v = task.wide(task.k[at, heads]), task.wide(task.v[at, heads])
        by_k, by_v = (np.zeros(t.shape, t.dtype) for t in (k, v))
        for rows, seen in task.blocks():
            q, scores = task.scores(part, rows, k[:, :, :seen])
            corner = scores[..., rows.start :]
            if is_causal and corner.shape[3]:
                np.add(corner, _penalties(*corner.shape[2:], corner.dtype), corner)
            weights = _by_rows("weights", _weights, scores, total[at, heads, rows, None])
            gradient = task.wide(g[at, heads, rows])
            by_v[:, :, :seen] += np.matmul(weights.swapaxes(2, 3), gradient)
            slope = np.matmul(gradient, v[:, :, :seen].swapaxes(2, 3))
            along = dots(gradient, task.wide(made[at, heads, rows]))[..., None]
            slope = _by_rows("slopes", _slopes, slope, along, weights)
            by_q = np.matmul(slope, k[:, :, :seen])
            of_q[at, heads, rows] = _in(of_q, np.multiply(by_q, task.scale, by_q))
            by_k[:, :, :seen] += np.matmul(slope.swapaxes(2, 3), q)
        of_k[at, heads], of_v[at, heads] = _in(of_k, by_k), _in(of_v, by_v)

    _over(parts, work, task)
    return tuple(wrap(t, query.raw_dtype) for t in results)
