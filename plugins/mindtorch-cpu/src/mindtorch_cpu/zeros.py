"""Which of two zeros NumPy's extremes are: instructions of the processor decide that, not NumPy.

Ops that leave a zero at a bound of zero as it is, as PyTorch's do, ask here how to call them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import FLOATING, dtype

from .arrays import NUMPY_OF, TORCH_OF
from .arrays import ZEROS as _NUMBERS

__all__ = ["FIRST", "ODD", "bounded", "taken"]

_ENOUGH: Final = 131  # elements of several vectors, and what is left after them


def taken(ufunc: Callable[..., Any], d: Any) -> set[bool]:
    """Whether a ufunc takes the second of zeros of both signs: in arrays of all kinds, and beside numbers."""
    found: set[bool] = set()
    for signs in ((0.0, -0.0), (-0.0, 0.0)):
        a, b = (np.full(2 * _ENOUGH, zero, d) for zero in signs)
        for x, y in ((a[:_ENOUGH], b[:_ENOUGH]), (a[::2], b[::2]), (a, b[0]), (a[0], b)):
            found |= {*np.not_equal(np.signbit(ufunc(x, y)), np.signbit(a[0])).tolist()}
    return found


_TAKEN: Final = {
    d: taken(np.maximum, NUMPY_OF[d]) | taken(np.minimum, NUMPY_OF[d])
    for d in _NUMBERS
    if d.category == FLOATING and NUMPY_OF[d].names is None
}
# Dtypes of which they do not always take the second; and among these, of which always the first.
ODD: Final = {d for d, found in _TAKEN.items() if False in found}
FIRST: Final = {d for d in ODD if True not in _TAKEN[d]}


def _chosen(beyond: Callable[..., Any], a: Any, bound: Any, out: Any = None) -> Any:
    found = np.where(beyond(a, bound) | np.isnan(bound), bound, a)
    if out is None:
        return found
    out[...] = found
    return out


_KEEPING: Final[dict[Any, Any]] = {
    np.maximum: partial(_chosen, np.less),
    np.minimum: partial(_chosen, np.greater),
}


def bounded(ufunc: Any, a: Any, bound: Any, d: dtype | None = None) -> tuple[Any, Any, Any]:
    """A function, and its operands, for an extreme of elements and a bound; of equals it is the element.

    Args:
        ufunc: ``np.maximum`` or ``np.minimum``.
        a: the elements.
        bound: one for each, or one for all.
        d: the dtype of both; None: that of ``a``.
    """
    d = TORCH_OF[a.dtype] if d is None else d
    if d not in ODD:
        return ufunc, bound, a
    return (ufunc if d in FIRST else _KEEPING[ufunc]), a, bound
