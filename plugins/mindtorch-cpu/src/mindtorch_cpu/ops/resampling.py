"""Resizing and its gradients, which the core's compositions add up one by one.

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
from ..workers import in_parts

# Sizes up to which products with matrices of zeros were faster than gathering and adding.
_DENSE = 512
_CACHED: Final = 1 << 20  # bytes of images that are resized at a time
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
