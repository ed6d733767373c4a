"""Warnings that name the user's line, however many of mindtorch's calls are between."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from types import FrameType
from typing import Any, Final, TypeVar

from .own_frames import OURS

__all__ = ["always", "muted", "user_frame", "warn_user", "warn_user_once"]

T = TypeVar("T")
_REGISTRY: Final = "__warningregistry__"  # where `warnings` notes what it has shown
# Of Python's, what a user's line may reach mindtorch through.
_BETWEEN: Final = frozenset({"contextlib", "copy", "functools"})
_TOLD: Final[set[str]] = set()  # what `warn_user_once` has said
_ALWAYS: Final = [False]
_MUTED: Final[ContextVar[bool]] = ContextVar("_MUTED", default=False)


def muted(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Call what has been called before for the same, and has warned then."""
    before = _MUTED.set(True)
    try:
        return function(*args, **kwargs)
    finally:
        _MUTED.reset(before)


def user_frame() -> FrameType | None:
    """The nearest frame outside mindtorch's packages, and the package of who asks, that is not Python's."""
    frame: FrameType | None = sys._getframe(1)
    if frame is not None and frame.f_code is warn_user.__code__:
        frame = frame.f_back
    assert frame is not None
    own = OURS | _BETWEEN | {_package(frame)}
    while frame is not None and (_package(frame) in own or _generated(frame)):
        frame = frame.f_back
    return frame


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called mindtorch: the nearest one outside its packages and the caller's own.

    Args:
        message: what is to be said.
        category: class of the warning.
    """
    if _MUTED.get():
        return
    frame = user_frame()
    if frame is None:
        warnings.warn(message, category, stacklevel=2)
        return
    names, file = frame.f_globals, frame.f_code.co_filename
    module = names.get("__name__") or file  # without a name nothing would be said
    registry = names.setdefault(_REGISTRY, {})
    warnings.warn_explicit(message, category, file, frame.f_lineno, module, registry)


def warn_user_once(message: str, kind: str = "") -> None:
    """`warn_user`, the first time in a process, as PyTorch warns of most that is older or unsafe.

    Args:
        message: what is to be said.
        kind: names what is said in several texts, of which the first is enough.
    """
    told = kind or message
    if _MUTED.get():
        return
    if told not in _TOLD or _ALWAYS[0]:
        _TOLD.add(told)
        warn_user(message)


def always(wanted: bool | None = None) -> bool:
    """Whether `warn_user_once` warns each time; given a bool, from now on."""
    if wanted is not None:
        _ALWAYS[0] = wanted
    return _ALWAYS[0]


def _generated(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith("<mindtorch ")


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]
