"""Determinants of matrices, of whose factorizations the signs are counted by a few calls of NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import quietly, wrap
from ..register import kernel, rule_of
from .lapack import lu_factor_ex
from .reduction import prod


def _factored(A: Any) -> tuple[Any, Any, Any, Any]:
    """The factors of matrices, their exchanges, the diagonals, and 1 or -1 for the parities of exchanges."""
    factors, pivots, _ = lu_factor_ex(A)
    a, places = factors.raw_data, pivots.raw_data
    moved = places != np.arange(1, places.shape[-1] + 1, dtype=np.int32)
    parity = (1 - 2 * (np.add.reduce(moved, -1, dtype=np.int64) % 2)).astype(a.dtype)
    return factors, pivots, wrap(a.diagonal(0, -2, -1), A.raw_dtype), parity


@kernel("_linalg_det")
def det(A: Any) -> Any:
    """The product of the diagonal, and its sign."""
    rule_of("_linalg_det")(A)
    factors, pivots, diagonal, parity = _factored(A)
    value = quietly(np.multiply, prod(diagonal, -1).raw_data, parity)
    return wrap(np.asarray(value), A.raw_dtype), factors, pivots


@kernel("_linalg_slogdet")
def slogdet(A: Any) -> Any:
    """The sign, and the sum of the logarithms of the diagonal."""
    rule_of("_linalg_slogdet")(A)
    factors, pivots, diagonal, parity = _factored(A)
    sign = quietly(np.multiply, prod(diagonal.sgn(), -1).raw_data, parity)
    return wrap(np.asarray(sign), A.raw_dtype), diagonal.abs().log().sum(-1), factors, pivots
