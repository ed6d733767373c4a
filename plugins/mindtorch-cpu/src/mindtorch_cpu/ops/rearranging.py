"""Flips, rolls, repetitions, triangles: elements in another order, as NumPy lays them out."""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import check_repeats, check_total, int64, wrap_dim

from ..arrays import NUMPY_OF, exact, laid_as, wrap
from ..register import composition_of, kernel, rule_of
from ..turned import mirrored


@kernel("flip")
def flip(self: Any, dims: Any) -> Any:
    """Elements in reverse order along dimensions."""
    spec = rule_of("flip")(self, dims)
    a = self.raw_data
    axes = tuple(wrap_dim(d, a.ndim) for d in dims) if a.ndim else ()
    return laid_as(mirrored(a, axes) if spec.strides is None else np.flip(a, axes), spec)


@kernel("roll")
def roll(self: Any, shifts: Any, dims: Any = ()) -> Any:
    """Elements moved along dimensions, those that leave at one end entering at the other."""
    spec = rule_of("roll")(self, shifts, dims)
    a = self.raw_data
    moves = shifts if isinstance(shifts, list | tuple) else (shifts,)
    along = dims if isinstance(dims, list | tuple) else (dims,)
    data = a if along else a.reshape(-1)
    for shift, dim in zip(moves, along or (0,), strict=True):
        data = _rolled(data, shift, wrap_dim(dim, a.ndim) if along else 0)
    return laid_as(data.reshape(a.shape), spec)


def _rolled(a: Any, shift: int, at: int) -> Any:
    n = a.shape[at] if a.ndim else 1
    step, before = shift % max(n, 1), (slice(None),) * at
    if not step:
        return np.array(a, order="C")
    out = np.empty(a.shape, a.dtype)
    out[(*before, slice(step, None))] = a[(*before, slice(None, n - step))]
    out[(*before, slice(None, step))] = a[(*before, slice(n - step, None))]
    return out


@kernel("constant_pad_nd")
def constant_pad_nd(self: Any, pad: Any, value: Any = 0) -> Any:
    """A number before and after dimensions, the last of them first; negative sizes cut off."""
    spec, a = rule_of("constant_pad_nd")(self, pad, value), self.raw_data
    if spec.strides is not None or a.dtype.names is not None:
        return composition_of("constant_pad_nd")(self, pad, value)
    out = np.empty(spec.shape, a.dtype)
    out[...] = exact(value, self.raw_dtype)
    source, target = [slice(None)] * a.ndim, [slice(None)] * a.ndim
    for i in range(len(pad) // 2):
        at, before, after = a.ndim - 1 - i, pad[2 * i], pad[2 * i + 1]
        source[at] = slice(max(-before, 0), max(a.shape[at] + min(after, 0), 0))
        size = len(range(a.shape[at])[source[at]])
        target[at] = slice(max(before, 0), max(before, 0) + size)
    out[tuple(target)] = a[tuple(source)]
    return wrap(out, self.raw_dtype)


@kernel("repeat")
def repeat(self: Any, repeats: Any) -> Any:
    """Tiles, in one copy."""
    shape = rule_of("repeat")(self, repeats).shape
    a = self.raw_data
    sizes = (1,) * (len(repeats) - a.ndim) + a.shape
    apart = a.reshape([x for n in sizes for x in (1, n)])
    spread = np.empty([x for r, n in zip(repeats, sizes, strict=True) for x in (r, n)], a.dtype)
    spread[...] = apart
    return wrap(spread.reshape(shape), self.raw_dtype)


@kernel("repeat_interleave.Tensor")
def repeat_interleave(repeats: Any, *, output_size: int | None = None) -> Any:
    """Each position so many times."""
    check_repeats(repeats)
    counts = repeats.raw_data
    check_total(int(counts.sum()), output_size)
    return wrap(np.repeat(np.arange(counts.size, dtype=counts.dtype), counts), repeats.raw_dtype)


@functools.lru_cache(256)
def _below(rows: int, columns: int, diagonal: int) -> Any:
    """Which elements are on and below a diagonal."""
    return np.tri(rows, columns, diagonal, dtype=bool)


# Elements of a triangle that is remembered.
_FEW: Final = 1 << 12


@functools.lru_cache(256)
def _places(name: str, rows: int, columns: int, diagonal: int) -> Any:
    """Rows and columns of a triangle's elements, in row-major order."""
    row = np.arange(rows)
    edges = (row + (diagonal + (name == "tril"))).clip(0, columns)
    first, counts = (0, edges) if name == "tril" else (edges, columns - edges)
    total = int(counts.sum())
    found = np.empty((2, total), np.int64)
    found[0] = row.repeat(counts)
    found[1] = np.arange(total) - (counts.cumsum() - counts - first).repeat(counts)
    return found


def _triangle(name: str) -> None:
    def kept(rows: int, columns: int, diagonal: int) -> Any:
        # Elements on and below a diagonal; those above another are the rest.
        find = _below if rows * columns <= _FEW else _below.__wrapped__
        below = find(rows, columns, diagonal - (name == "triu"))
        return below if name == "tril" else ~below

    @kernel(name)
    def triangle(self: Any, diagonal: int = 0) -> Any:
        rule_of(name)(self, diagonal)
        a = self.raw_data
        out = np.zeros(a.shape, a.dtype)
        np.copyto(out, a, where=kept(a.shape[-2], a.shape[-1], diagonal))
        return wrap(out, self.raw_dtype)

    @kernel(f"{name}_indices")
    def indices(
        row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None
    ) -> Any:
        rule_of(f"{name}_indices")(row, col, offset, dtype=dtype)
        d = dtype or int64
        find = _places if row * col <= _FEW else _places.__wrapped__
        return wrap(find(name, row, col, offset).astype(NUMPY_OF[d]), d)


_triangle("tril")
_triangle("triu")
