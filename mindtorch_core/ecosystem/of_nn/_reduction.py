"""``torch.nn._reduction``: reductions of losses by name and by number."""

from __future__ import annotations

from typing import Final

from ...values.user_warnings import warn_user

__all__ = ["get_enum", "legacy_get_enum", "legacy_get_string"]

_NUMBERS: Final = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """The number of a reduction.

    Raises:
        ValueError: if there is none of that name.
    """
    if reduction not in _NUMBERS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _NUMBERS[reduction]


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> str:
    """The reduction that the two arguments of old mean."""
    summed = "mean" if size_average in (None, True) else "sum"
    found = summed if reduce in (None, True) else "none"
    if emit_warning:
        warn_user(
            "size_average and reduce args will be deprecated, please use "
            f"reduction='{found}' instead."
        )
    return found


def legacy_get_enum(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> int:
    """The number of `legacy_get_string`."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
