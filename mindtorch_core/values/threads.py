"""How many threads backends on the host may use for one op."""

from __future__ import annotations

import os
from typing import Final

from .whole_sizes import whole_size

__all__ = ["get_num_threads", "set_num_threads"]

VARIABLE: Final = "MINDTORCH_NUM_THREADS"


def _usable_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def _initial() -> int:
    text = os.environ.get(VARIABLE, "").strip()
    return int(text) if text.isdecimal() and int(text) > 0 else _usable_cores()


_count: Final[list[int]] = []


def get_num_threads() -> int:
    """Number of threads that one op may use.

    The cores this process may run on, unless ``MINDTORCH_NUM_THREADS`` or `set_num_threads` says
    otherwise.
    """
    if not _count:
        _count.append(_initial())
    return _count[0]


def set_num_threads(count: int) -> None:
    """Set the number of threads that one op may use.

    Args:
        count: how many.

    Raises:
        RuntimeError: if ``count`` is no int, or not positive.

    Example:
        >>> threads = torch.get_num_threads()
        >>> torch.set_num_threads(1)
        >>> torch.get_num_threads()
        1
        >>> torch.set_num_threads(threads)
    """
    if isinstance(count, bool) or not hasattr(count, "__index__"):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(count).__name__}")
    count = whole_size(count)
    if count < 1:
        raise RuntimeError(f"set_num_threads expects a positive integer, got {count}")
    _count[:] = [count]
