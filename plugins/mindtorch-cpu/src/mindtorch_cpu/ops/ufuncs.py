"""What fusion knows of element-wise kernels: filled as `pointwise` and `functions` make them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

__all__ = ["REFUSING", "UFUNCS", "note"]

# By op, the ufunc that its kernel is on operands of one floating dtype: fusion calls it with
# ``out=``, and the kernel for everything else.
UFUNCS: Final[dict[str, Any]] = {}
# Ops whose kernels refuse some values of integers, division by zero say: in the middle of a group
# the error could not be traced back to the op.
REFUSING: Final[set[str]] = set()
# NumPy 2.4 skips elements of outputs with some strides.
_SKIPPING: Final = frozenset([np.negative, np.isnan, np.isinf, np.isfinite])


def note(name: str, ufunc: Any = None, *, refuses: bool = False) -> None:
    """Remember how an op and its in-place form compute.

    Args:
        name: the op.
        ufunc: its function for floating operands.
        refuses: whether it refuses some values of integers.
    """
    if refuses:
        REFUSING.update((f"aten::{name}", f"aten::{name}_"))
    elif isinstance(ufunc, np.ufunc) and ufunc not in _SKIPPING:
        UFUNCS[f"aten::{name}"] = UFUNCS[f"aten::{name}_"] = ufunc
