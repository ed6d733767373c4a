"""Resizing and padding, and their gradients, which the core's compositions add up one by one.

Resizing along a dimension is a product with a matrix that is zero nearly everywhere. Up to some size
BLAS multiplies by those zeros faster than anything picks the other elements.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import RESIZING, Shape, float32, taps

from ..arrays import NUMPY_OF, WIDER, quietly, wrap
from ..memory_pool import POOL
from ..register import composition_of, register_in_format, rule_of
from ..workers import in_parts, share_out

# Sizes up to which products with matrices of zeros were faster than gathering and adding.
_DENSE = 512
_CACHED: Final = 1 << 20  # bytes of images that are padded at a time
_KEPT: Final = 1 << 14  # elements up to which a matrix is kept: it costs more than the product


def _matrix(mode: str, size: int, count: int, align: bool, scale: float | None, d: Any) -> Any:
    """The weights (count, size) of old elements in new ones."""
    known = _made if size * count <= _KEPT else _made.__wrapped__
    return known(mode, size, count, align, scale, d)


@functools.lru_cache(256)
def _made(mode: str, size: int, count: int, align: bool, scale: float | None, d: Any) -> Any:
    like = wrap(np.zeros((), NUMPY_OF[d]), d)
    out = np.zeros((count, size), NUMPY_OF[d])
    rows = np.arange(count)
    for at, weight in taps(mode, size, count, align, scale, like):
        np.add.at(out, (rows, at.raw_data), 1 if weight is None else weight.raw_data)
    return out


def _multiplied(a: Any, matrices: Any) -> Any:
    """Products along the last dimensions, with one matrix (new, old) each; the last first."""
    for i, matrix in enumerate(reversed(matrices)):
        lead, old = a.shape[: a.ndim - 1 - i], a.shape[a.ndim - 1 - i]
        behind = a.shape[a.ndim - i :]
        new = matrix.shape[0]
        if not i:
            a = (a.reshape(-1, old) @ matrix.T).reshape(*lead, new)
        else:
            a = np.matmul(matrix, a.reshape(-1, old, int(np.prod(behind))))
            a = a.reshape(*lead, new, *behind)
    return a


def _options(n: int, aligns: bool, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    values = [*given, *named.values()]
    align = values.pop(0) if aligns else False
    return align, (*values, *(None,) * (n - len(values)))


def _resize(name: str, mode: str, n: int, aligns: bool) -> Any:
    decomposed = composition_of(name)
    check = rule_of(name)

    def run(self: Any, output_size: Any, *given: Any, **named: Any) -> Any:
        check(self, output_size, *given, **named)
        d, a = self.raw_dtype, self.raw_data
        sizes = self.raw_shape[2:]
        if not _fits(a, (*sizes, *output_size)):
            return decomposed(self, output_size, *given, **named)
        align, scales = _options(n, aligns, given, named)
        wide = WIDER.get(d, d)
        matrices = [
            _matrix(mode, size, count, align, scale, wide)
            for size, count, scale in zip(sizes, output_size, scales, strict=True)
        ]
        made = quietly(_multiplied, a.astype(NUMPY_OF[wide], copy=False), matrices)
        return wrap(made.astype(NUMPY_OF[d]) if d in WIDER else made, d)

    return run


def _resize_backward(name: str, mode: str, n: int, aligns: bool) -> Any:
    decomposed = composition_of(f"{name}_backward")

    def run(grad_output: Any, output_size: Any, input_size: Any, *given: Any, **named: Any) -> Any:
        d, g = grad_output.raw_dtype, grad_output.raw_data
        sizes = tuple(input_size[2:])
        if mode == "nearest" and grad_output.raw_shape == (*input_size[:2], *output_size):
            factors = _factors(sizes, tuple(output_size), _options(n, aligns, given, named)[1])
            if factors and g.dtype.kind in "fV" and g.size:
                return wrap(_repeats_added(g, factors, NUMPY_OF[WIDER.get(d, d)]), d)
        if grad_output.raw_shape != (*input_size[:2], *output_size) or not _fits(
            g, (*sizes, *output_size)
        ):
            return decomposed(grad_output, output_size, input_size, *given, **named)
        align, scales = _options(n, aligns, given, named)
        wide = WIDER.get(d, d)
        matrices = [
            _matrix(mode, size, count, align, scale, wide).T
            for size, count, scale in zip(sizes, output_size, scales, strict=True)
        ]
        made = quietly(_multiplied, g.astype(NUMPY_OF[wide], copy=False), matrices)
        return wrap(made.astype(NUMPY_OF[d]) if d in WIDER else made, d)

    return run


@functools.lru_cache(256)
def _factors(sizes: Shape, counts: Shape, scales: tuple[float | None, ...]) -> list[int]:
    """How often each element of a dimension is repeated, if all are equally often; else nothing."""
    found = []
    for size, count, scale in zip(sizes, counts, scales, strict=True):
        factor, rest = divmod(count, size)
        if rest or not factor:
            return []
        ((at, _),) = taps(
            "nearest", size, count, False, scale, wrap(np.zeros((), np.float32), float32)
        )
        if not np.array_equal(at.raw_data, np.arange(count) // factor):
            return []
        found.append(factor)
    return found


def _nearest(name: str, n: int) -> Any:
    decomposed, check = composition_of(name), rule_of(name)

    def run(self: Any, output_size: Any, *given: Any, **named: Any) -> Any:
        a = self.raw_data
        if not a.size or not a.flags.c_contiguous:
            return decomposed(self, output_size, *given, **named)
        check(self, output_size, *given, **named)
        scales = _options(n, False, given, named)[1]
        factors = _factors(a.shape[2:], tuple(output_size), scales)
        if not factors:
            return decomposed(self, output_size, *given, **named)
        return wrap(_repeated(a, factors), self.raw_dtype)

    return run


def _repeated(a: Any, factors: Sequence[int]) -> Any:
    """Each element of the last dimensions several times, by some images and channels at a time."""
    n = len(factors)
    planes = a.reshape(-1, *a.shape[-n:])
    shape = tuple(s * f for s, f in zip(a.shape[-n:], factors, strict=True))
    out = POOL.empty((len(planes), *shape), a.dtype)
    step = max(1, _CACHED // out[:1].nbytes)

    def work(low: int, high: int) -> None:
        for at in range(low, high, step):
            _repeat(planes[at : min(at + step, high)], out[at : min(at + step, high)], factors)

    in_parts(work, len(planes), step)
    return out.reshape(*a.shape[:-n], *shape)


def _repeat(a: Any, out: Any, factors: Sequence[int]) -> None:
    """Along the last dimension into the first rows of each, which are then repeated."""
    *rows, factor = factors
    firsts = [slice(0, None, f) for f in rows]
    for k in range(factor):
        out[(slice(None), *firsts, slice(k, None, factor))] = a
    for i in reversed(range(len(rows))):
        before = (slice(None), *firsts[:i])
        for k in range(1, rows[i]):
            out[(*before, slice(k, None, rows[i]))] = out[(*before, firsts[i])]


def _repeats_added(g: Any, factors: list[int], d: Any) -> Any:
    """Sums over what came of each element, by blocks of images and channels."""
    n = len(factors)
    planes = np.ascontiguousarray(g).reshape(-1, *g.shape[2:])
    shape = tuple(s // f for s, f in zip(g.shape[2:], factors, strict=True))
    out = POOL.empty((len(planes), *shape), g.dtype)

    step = max(1, _CACHED // planes[:1].nbytes)

    def work(low: int, high: int) -> None:
        for at in range(low, high, step):
            part = slice(at, min(at + step, high))
            quietly(_add_repeats, planes[part], out[part], factors, d)

    in_parts(work, len(planes), step)
    return out.reshape(*g.shape[: g.ndim - n], *shape)


def _add_repeats(x: Any, out: Any, factors: list[int], d: Any) -> None:
    x = x.astype(d, copy=False)
    for i, factor in enumerate(factors):
        before = (slice(None),) * (1 + i)
        total = x[(*before, slice(0, None, factor))]
        for k in range(1, factor):
            total = np.add(
                total, x[(*before, slice(k, None, factor))], out=None if k == 1 else total
            )
        x = total
    out[...] = x


def _fits(a: Any, sizes: Any) -> bool:
    """Whether products are faster, and exact: infinities times zero are not."""
    return bool(a.dtype.kind in "fV" and max(sizes) <= _DENSE and a.size and np.isfinite(a).all())


for _name, (_mode, _n, _aligns) in RESIZING.items():
    if not _mode.startswith("nearest"):
        register_in_format(_name, _resize(_name, _mode, _n, _aligns))
    elif _mode == "nearest":
        register_in_format(_name, _nearest(_name, _n))
    register_in_format(f"{_name}_backward", _resize_backward(_name, _mode, _n, _aligns))


# ---- padding ------------------------------------------------------------------------------------


def _source(kind: str, at: int, size: int) -> int:
    """The element that a padded position repeats."""
    if kind == "replication":
        return min(max(at, 0), size - 1)
    return (size - 1) - abs((size - 1) - abs(at))


def _folded(g: Any, axis: int, size: int, pads: tuple[int, int], kind: str, out: Any) -> Any:
    """Gradients of a padded dimension added where their elements came from; in ``out`` unless it is None."""
    before, after = pads
    if out is None:
        out = np.empty((*g.shape[:axis], size, *g.shape[axis + 1 :]), g.dtype)
    lead = (slice(None),) * axis
    first, last = max(-before, 0), min(size + after, size)
    if last - first < size:
        out[...] = 0
    if last > first:
        kept = slice(first + before, last + before)
        out[(*lead, slice(first, last))] = g[(*lead, kept)]
    for at in (*range(-before, min(0, size + after)), *range(max(size, -before), size + after)):
        place = _source(kind, at, size)
        target = out[(*lead, slice(place, place + 1))]
        np.add(target, g[(*lead, slice(at + before, at + before + 1))], out=target)
    return out


def _unfolded(a: Any, kind: str, padding: Any) -> Any:
    """An array with its last dimensions padded by its own elements, the last one first."""
    rank, n = a.ndim, len(padding) // 2
    pairs = [(padding[2 * i], padding[2 * i + 1]) for i in reversed(range(n))]
    shape = list(a.shape)
    for i, (before, after) in enumerate(pairs, rank - n):
        shape[i] += before + after
    out = POOL.empty(tuple(shape), a.dtype)
    whole = a.reshape(-1, *a.shape[rank - n :]), out.reshape(-1, *shape[rank - n :])
    # Some at a time: edges are copied from what is in the cache still, and a call costs as much as a few.
    step = max(1, _CACHED // max(whole[1][0].nbytes, 1))

    def work(at: int) -> None:
        _unfold(whole[0][at : at + step], whole[1][at : at + step], kind, pairs)

    share_out(work, range(0, len(whole[0]), step))
    return out


def _unfold(a: Any, out: Any, kind: str, pairs: Sequence[tuple[int, int]]) -> None:
    """Write an array with all dimensions but the first padded."""
    inside = [slice(None), *(slice(b, b + s) for (b, _), s in zip(pairs, a.shape[1:], strict=True))]
    out[tuple(inside)] = a
    for i in reversed(range(1, a.ndim)):
        before, after = pairs[i - 1]
        size = a.shape[i]
        for at in (*range(-before, 0), *range(size, size + after)):
            here, there = inside.copy(), inside.copy()
            here[i] = slice(at + before, at + before + 1)
            place = _source(kind, at, size) + before
            there[i] = slice(place, place + 1)
            out[tuple(here)] = out[tuple(there)]
        inside[i] = slice(None)


def _pad(kind: str, n: int) -> Any:
    name = f"{kind}_pad{n}d"
    rule, decomposed = rule_of(name), composition_of(name)

    def run(self: Any, padding: Any) -> Any:
        rule(self, padding)
        if (
            min(padding) < 0 or not self.raw_data.size
        ):  # cut off as well, so that sources may be gone
            return decomposed(self, padding)
        return wrap(_unfolded(self.raw_data, kind, padding), self.raw_dtype)

    return run


def _pad_backward(kind: str, n: int) -> Any:
    name = f"{kind}_pad{n}d"
    padded, decomposed = rule_of(name), composition_of(f"{name}_backward")

    def run(grad_output: Any, self: Any, padding: Any) -> Any:
        d = grad_output.raw_dtype
        if grad_output.raw_shape != padded(self, padding).shape or not grad_output.raw_data.size:
            return decomposed(grad_output, self, padding)
        shape = self.raw_shape
        planes = grad_output.raw_data.reshape(-1, *grad_output.raw_shape[-n:])
        out = POOL.empty((len(planes), *shape[-n:]), planes.dtype)
        pads = [(padding[2 * i], padding[2 * i + 1]) for i in range(n)]
        step = max(1, _CACHED // planes[:1].nbytes)

        def work(at: int) -> None:
            g, target = planes[at : at + step], out[at : at + step]
            for i, each in enumerate(pads):
                size = target.shape[n - i]
                g = quietly(_folded, g, n - i, size, each, kind, target if i == n - 1 else None)

        share_out(work, range(0, len(planes), step))
        return wrap(out.reshape(shape), d)

    return run


for _kind in ("reflection", "replication"):
    for _n in (1, 2, 3):
        register_in_format(f"{_kind}_pad{_n}d", _pad(_kind, _n))
        register_in_format(f"{_kind}_pad{_n}d_backward", _pad_backward(_kind, _n))
