"""Undoing what a call changed, also where an interrupt ends it.

An interrupt (Ctrl-C, and whatever else a signal handler raises) comes where a function begins, where a
call of something built in has ended, and where a loop begins again, so also inside what is to undo.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["undone"]

T = TypeVar("T")


def undone(undo: Callable[[], None], call: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
    """``call(*args, **kwargs)``, and ``undo()`` in any case.

    Args:
        undo: makes things as they were before the call; may be called again.
        call: what changes them.
        *args: its arguments.
        **kwargs: its keyword arguments.
    """
    try:
        return call(*args, **kwargs)
    finally:
        try:
            undo()
        except Exception:
            raise
        except BaseException:  # an interrupt, before all was done
            undo()
            raise
