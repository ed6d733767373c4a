"""Groups that some ranks leave: what is asked of no engine yet."""

from __future__ import annotations

from typing import Any, Final, NoReturn

from .groups import chosen

__all__ = ["SHRINK_ABORT", "SHRINK_DEFAULT", "shrink_group"]

SHRINK_DEFAULT: Final = 0
SHRINK_ABORT: Final = 1


def shrink_group(
    ranks_to_exclude: list[int],
    group: Any = None,
    shrink_flags: int = SHRINK_DEFAULT,
    pg_options: Any = None,
) -> NoReturn:
    """Refused, as by PyTorch on gloo and MPI: `elastic` replaces ranks, `new_group` makes smaller groups.

    Args:
        ranks_to_exclude: in the group.
        group: the default one for None.
        shrink_flags: `SHRINK_DEFAULT` or `SHRINK_ABORT`.
        pg_options: taken for PyTorch's sake.

    Raises:
        TypeError: for anything but a list; else because no engine can do it.
        ValueError: for an empty list, other flags, or a group of one.
    """
    if not isinstance(ranks_to_exclude, list):
        raise TypeError(
            f"ranks_to_exclude must be a list, but got {type(ranks_to_exclude).__name__}. "
            f"Example: [1, 3, 5] to exclude ranks 1, 3, and 5."
        )
    if not ranks_to_exclude:
        raise ValueError(
            "ranks_to_exclude cannot be empty. To shrink a group, you must specify at least one rank to "
            "exclude. Example: [failed_rank_id]"
        )
    if shrink_flags not in (SHRINK_DEFAULT, SHRINK_ABORT):
        raise ValueError(
            f"Invalid shrink_flags value: {shrink_flags}. Must be one of: SHRINK_DEFAULT "
            f"({SHRINK_DEFAULT}) or SHRINK_ABORT ({SHRINK_ABORT}). Use SHRINK_ABORT to abort ongoing "
            f"operations before shrinking."
        )
    found = chosen(group)
    if found.size() <= 1:
        raise ValueError(
            f"Cannot shrink a process group with size {found.size()}. Group must have at least 2 ranks to "
            f"support shrinking."
        )
    raise TypeError(
        f"Process group backend for '{found.group_name}' does not support shrinking operations."
    )
