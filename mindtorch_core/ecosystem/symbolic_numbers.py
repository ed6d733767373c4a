"""Functions of numbers that may be symbols in PyTorch. Sizes are numbers here, and so are results."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

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
    if (min is not None and size < min) or (max is not None and size > max):
        raise RuntimeError(f"Invalid value range for {size} between [{min}, {max}].")


def sym_constrain_range_for_size(
    size: Any, *, min: int | None = None, max: int | None = None
) -> None:
    """Check a size as `sym_constrain_range` does a number."""
    sym_constrain_range(size, min=min or 0, max=max)


for _name in __all__:
    overridable(globals()[_name])
