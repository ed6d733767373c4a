"""Distances of all pairs of rows, in double precision."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..arrays import NUMPY_OF, quietly, row_major, wrap
from ..blas import multiplied
from ..register import composition_of, kernel, rule_of

# Pairs from which one product of matrices is faster than the pairs one by one; results of a block of rows.
_MANY: Final = 1 << 10
_BLOCK: Final = 1 << 16
# Squared distances below this part of the rows' squares are computed once more: digits have cancelled out.
_NEAR: Final = 1e-8
_EXACTLY: Final = 2  # the mode of PyTorch's that asks for no product


@kernel("_cdist_forward")
def cdist(x1: Any, x2: Any, p: float, compute_mode: Any = None) -> Any:
    """By SciPy; Euclidean distances of many single or half precision rows by a product of matrices."""
    spec = rule_of("_cdist_forward")(x1, x2, p, compute_mode)
    found = np.zeros(spec.shape, np.float64)
    a, b = x1.raw_data, x2.raw_data
    if found.size and a.shape[-1]:
        batch, d = spec.shape[:-2], NUMPY_OF[spec.dtype]
        a = np.broadcast_to(a, (*batch, *a.shape[-2:])).astype(np.float64)
        b = np.broadcast_to(b, (*batch, *b.shape[-2:])).astype(np.float64)
        single = p == 2 and compute_mode != _EXACTLY and d.itemsize < 8
        many = single and a.shape[-2] * b.shape[-2] >= _MANY
        for at in np.ndindex(batch):
            if not (many and quietly(_by_product, a[at], b[at], found[at])):
                found[at] = _one_by_one(a[at], b[at], p)
    if p == 0:
        found *= x1.raw_data.shape[-1]  # SciPy's is the share of different elements
    return wrap(row_major(found.astype(NUMPY_OF[spec.dtype], copy=False)), spec.dtype)


def _one_by_one(a: Any, b: Any, p: float) -> Any:
    from scipy.spatial import distance

    named = {0: "hamming", 1: "cityblock", 2: "euclidean", float("inf"): "chebyshev"}.get(p)
    if named is not None:
        return distance.cdist(a, b, named)
    return distance.cdist(a, b, "minkowski", p=p)


def _by_product(a: Any, b: Any, out: Any) -> bool:
    """Euclidean distances from ``|x|**2 + |y|**2 - 2 * x @ y``; False where too many digits would be lost.

    Those of float32 rows are as exact as SciPy's: rows that lie near to each other are subtracted.
    """
    here, there = (np.einsum("ij,ij->i", rows, rows) for rows in (a, b))
    if not (np.isfinite(here).all() and np.isfinite(there).all()):
        return False
    step, left, turned = max(1, _BLOCK // len(b)), len(out) * len(b) // 8, b.T
    for low in range(0, len(a), step):
        part = slice(low, low + step)
        squares = np.add(here[part, None], there)
        far = np.multiply(squares, _NEAR)
        products = multiplied(squares.size * a.shape[1], np.dot, a[part], turned)
        np.multiply(products, 2, products)
        np.subtract(squares, products, squares)
        first, second = np.nonzero(squares < far)
        if (left := left - first.size) < 0:
            return False
        gaps = a[part][first] - b[second]
        squares[first, second] = np.einsum("ij,ij->i", gaps, gaps)
        np.sqrt(squares, out[part])
    return True


_backward: Final = composition_of("_cdist_backward")


@kernel("_cdist_backward")
def cdist_backward(grad: Any, x1: Any, x2: Any, p: float, cdist: Any) -> Any:
    """Of Euclidean distances of many float32 rows by a product of matrices, with more digits than theirs."""
    arrays = [t.raw_data for t in (grad, cdist, x1, x2)]
    g, distances, a, b = arrays
    pairs = (*a.shape[:-1], b.shape[-2])
    alike = g.shape == distances.shape == pairs and b.shape[:-2] == a.shape[:-2]
    single = all(t.dtype == np.float32 for t in arrays)
    if p == 2 and alike and single and pairs[-2] * pairs[-1] >= _MANY and a.size:
        out = np.empty(a.shape, a.dtype)
        if all(
            quietly(_pulled, g[at], distances[at], a[at], b[at], out[at])
            for at in np.ndindex(a.shape[:-2])
        ):
            return wrap(out, x1.raw_dtype)
    return _backward(grad, x1, x2, p, cdist)


def _pulled(g: Any, distances: Any, a: Any, b: Any, out: Any) -> bool:
    """Sums of ``(x - y) * g / distance`` over all ``y``; False where one is not finite."""
    ratio, x, y = np.zeros(g.shape), a.astype(np.float64), b.astype(np.float64)
    np.divide(g, distances, ratio, where=distances != 0, dtype=np.float64)
    x *= np.add.reduce(ratio, 1)[:, None]
    x -= multiplied(ratio.size * y.shape[1], np.dot, ratio, y)
    np.copyto(out, x, "same_kind")
    return bool(np.isfinite(out).all())
