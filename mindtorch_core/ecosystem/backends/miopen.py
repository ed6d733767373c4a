"""Settings of AMD's library of kernels, which is not there: remembered, and without effect."""

from __future__ import annotations

from contextlib import AbstractContextManager

from .settings import remembered

__all__ = ["flags", "immediate", "set_flags"]

immediate: bool = False


def set_flags(_immediate: bool | None = None) -> tuple[bool]:
    """Change the setting, and return what it was; None changes nothing."""
    global immediate
    before = immediate
    if _immediate is not None:
        immediate = _immediate
    return (before,)


def flags(immediate: bool = False) -> AbstractContextManager[None]:
    """The setting while a block lasts."""
    return remembered(globals(), {"immediate": immediate})
