"""Functions of numbers that may be symbols in PyTorch. Sizes are numbers here, and so are results."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, Final

from ..dispatch.written_functions import overridable

__all__ = [
    "sym_constrain_range",
    "sym_constrain_range_for_size",
    "sym_float",
    "sym_int",
    "sym_ite",
    "sym_max",
    "sym_min",
    "sym_not",
    "sym_sqrt",
    "sym_sum",
]

_LEAST: Final = -(2**63)
_MOST: Final = 2**63 - 1


def sym_int(a: Any) -> int:
    """The integer of a number, rounded towards zero."""
    return int(a)


def sym_float(a: Any) -> float:
    """The float of a number."""
    return float(a)


def sym_not(a: Any) -> bool:
    """Whether it is false."""
    return not a


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """``t`` where ``b`` holds, else ``f``.

    Raises:
        AssertionError: if ``b`` is no bool, or the others differ in type.
    """
    if not isinstance(b, bool) or type(t) is not type(f):
        raise AssertionError(f"expected a bool and two of one type, got {b!r}, {t!r} and {f!r}")
    return t if b else f


def sym_max(a: Any, b: Any) -> Any:
    """The larger number, a float if one of them is."""
    return _alike(max(a, b), a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller number, a float if one of them is."""
    return _alike(min(a, b), a, b)


def _alike(found: Any, a: Any, b: Any) -> Any:
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


def sym_sqrt(a: Any) -> float:
    """The square root."""
    return math.sqrt(a)


def sym_sum(args: Sequence[Any]) -> Any:
    """The sum."""
    return builtins.sum(args)


def sym_constrain_range(size: Any, *, min: int | None = None, max: int | None = None) -> None:
    """Check that a number is not below ``min`` nor above ``max``.

    Raises:
        RuntimeError: if it is.
    """
    low, high = _LEAST if min is None else min, _MOST if max is None else max
    if not low <= size <= high:
        raise RuntimeError(f"Invalid value range for {size} between [{low}, {high}].")


def sym_constrain_range_for_size(
    size: Any, *, min: int | None = None, max: int | None = None
) -> None:
    """Check a size as `sym_constrain_range` does a number.

    Raises:
        RuntimeError: if it is out of the range, or this allows sizes of no more than 2.
    """
    if max is not None and max <= 2:
        raise RuntimeError(
            f"Max value to constrain_range_for_size must be greater than 2. got: {max}"
        )
    sym_constrain_range(size, min=min or 0, max=max)


for _name in __all__:
    overridable(globals()[_name])
