"""Settings of NNPACK, which is not there: remembered, and without effect."""

from __future__ import annotations

from contextlib import AbstractContextManager

from .settings import remembered

__all__ = ["flags", "is_available", "set_flags"]

enabled: bool = True


def is_available() -> bool:
    """False: there is no NNPACK."""
    return False


def set_flags(_enabled: bool) -> tuple[bool]:
    """Change the setting, and return what it was."""
    global enabled
    before, enabled = enabled, _enabled
    return (before,)


def flags(enabled: bool = False) -> AbstractContextManager[None]:
    """The setting while a block lasts."""
    return remembered(globals(), {"enabled": enabled})
