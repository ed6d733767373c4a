"""Flips, rolls, repetitions, triangles: elements in another order, as NumPy lays them out."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_core.backend import check_repeats, check_total, int64, wrap_dim

from ..arrays import NUMPY_OF, laid_as, wrap
from ..register import kernel, rule_of


@kernel("flip")
def flip(self: Any, dims: Any) -> Any:
    """Elements in reverse order along dimensions."""
    spec = rule_of("flip")(self, dims)
    a = self.raw_data
    axes = tuple(wrap_dim(d, a.ndim) for d in dims) if a.ndim else ()
    flipped = np.flip(a, axes)
    return laid_as(np.array(flipped, order="C") if spec.strides is None else flipped, spec)


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


def _triangle(name: str) -> None:
    def kept(rows: int, columns: int, diagonal: int) -> Any:
        # Elements on and below a diagonal; those above another are the rest.
        below = np.tri(rows, columns, diagonal - (name == "triu"), dtype=bool)
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
        return wrap(np.array(np.nonzero(kept(row, col, offset)), NUMPY_OF[d]), d)


_triangle("tril")
_triangle("triu")
