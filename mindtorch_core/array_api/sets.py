"""Functions of the array API standard that find different elements.

NaN differs from itself, so that each stands for itself, and +0 and -0 are equal. Elements are sorted, and
compared with their neighbours: this gives the first position of each, which `torch.unique` does not.
"""

from __future__ import annotations

from typing import NamedTuple

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from ..values.dtypes import bool_, int64

__all__ = ["unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAll(NamedTuple):
    """What `unique_all` returns."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """What `unique_counts` returns."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """What `unique_inverse` returns."""

    values: Tensor
    inverse_indices: Tensor


def _order(flat: Tensor) -> Tensor:
    """Positions that sort a flat tensor, equals in their order; complex ones by parts."""
    if not flat.is_complex():
        return fn.argsort(flat, stable=True)
    order = fn.argsort(fn.imag(flat), stable=True)
    return order[fn.argsort(fn.real(flat)[order], stable=True)]


def unique_all(x: Tensor, /) -> UniqueAll:
    """Different elements, sorted: values, first positions, positions that give x back, and counts.

    Returns:
        ``values``, ``indices`` and ``counts`` with one dimension, ``inverse_indices`` in the shape of
        x. Positions are those in the flat x, int64.
    """
    flat = x.detach().reshape(-1)
    size = flat.shape[0]
    order = _order(flat)
    ordered = flat[order]
    starts = fn.ones(size, dtype=bool_, device=x.device)
    starts[1:] = ordered[1:] != ordered[:-1]
    places = starts.nonzero().reshape(-1)
    inverse = fn.empty(size, dtype=int64, device=x.device)
    inverse[order] = fn.cumsum(starts.long(), 0) - 1
    end = fn.full((1,), size, dtype=int64, device=x.device)
    counts = fn.diff(places, append=end)
    return UniqueAll(ordered[places], order[places], inverse.reshape(x.shape), counts)


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """Different elements, sorted, and how often each occurs."""
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """Different elements, sorted, and the positions among them that give x back."""
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Tensor, /) -> Tensor:
    """Different elements, sorted."""
    return unique_all(x).values
