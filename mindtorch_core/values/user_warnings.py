"""Warnings that name the user's line, however many of mindtorch's calls are between."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Final

from .own_frames import OURS

__all__ = ["warn_user"]

_REGISTRY: Final = "__warningregistry__"  # where `warnings` notes what it has shown


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called mindtorch: the nearest one outside its packages.

    Args:
        message: what is to be said.
        category: class of the warning.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
    if frame is None:
        warnings.warn(message, category, stacklevel=2)
        return
    names, file = frame.f_globals, frame.f_code.co_filename
    module = names.get("__name__") or file  # without a name nothing would be said
    registry = names.setdefault(_REGISTRY, {})
    warnings.warn_explicit(message, category, file, frame.f_lineno, module, registry)


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] in OURS
