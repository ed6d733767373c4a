"""Which lines of a traceback a user is shown: not those of mindtorch, where the error is its own words."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, TypeVar

__all__ = ["OURS", "VARIABLE", "hidden", "hide", "refusing", "reword"]

_F = TypeVar("_F", bound=Callable[..., Any])

VARIABLE: Final = "MINDTORCH_TRACEBACK"
# Packages whose frames tell a user nothing. Those of other backends stay: who writes one needs them.
OURS: Final = frozenset(
    f"mindtorch_{name}" for name in ("audio", "core", "cpu", "meta", "mpi", "nn", "npu", "vision")
)
_MARK: Final = "_mindtorch_frames_hidden"


def hide(error: BaseException) -> None:
    """Take mindtorch's own frames out of an error's traceback, if mindtorch raised it on purpose.

    That is, with a ``raise`` in one of its packages, for a call that it refuses: then the line at fault is
    the user's. An error that Python or another library raised within mindtorch may be a fault of
    mindtorch's, and keeps all its frames; so does every error under ``MINDTORCH_TRACEBACK=full``. Frames
    of others, such as a kernel or a module that the user wrote, always stay.

    Args:
        error: has just been caught; what caught it passes it on.
    """
    if os.environ.get(VARIABLE) == "full":
        return
    frames: list[TracebackType] = []
    at = error.__traceback__
    while at is not None:
        frames.append(at)
        at = at.tb_next
    if not frames or not (hidden(error) or (_ours(frames[-1]) and _raised(frames[-1]))):
        return
    kept: TracebackType | None = None
    for each in reversed(frames):
        if not _ours(each):
            kept = TracebackType(kept, each.tb_frame, each.tb_lasti, each.tb_lineno)
    error.__traceback__ = kept
    error.__dict__[_MARK] = True


def reword(error: BaseException, *text: Any) -> None:
    """Give an error that says nothing to a user other words, and show no frame of what raised it.

    Args:
        error: has just been caught; what caught it passes it on.
        text: says what was wrong with the call; all arguments of the error, if there are several.
    """
    error.args = text
    if isinstance(error, AttributeError):  # Python would guess at what may have been meant
        error.name = error.obj = None
    error.__cause__, error.__suppress_context__ = None, True
    if os.environ.get(VARIABLE) != "full":
        error.__traceback__ = None
    error.__dict__[_MARK] = True


def refusing(function: _F) -> _F:
    """Decorator of what users call: errors that mindtorch raises in it on purpose show no frame of its own.

    A file that cannot be opened is such an error too. It costs a call of Python's, so it is not for what
    takes a microsecond.
    """

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except OSError as error:
            if error.filename is not None:
                reword(error, *error.args)
            raise
        except Exception as error:
            hide(error)
            raise

    return called  # type: ignore[return-value]  # the same signature


def hidden(error: BaseException) -> bool:
    """Whether `hide` has found that mindtorch raised an error on purpose."""
    return _MARK in error.__dict__


def _ours(at: TracebackType) -> bool:
    return str(at.tb_frame.f_globals.get("__name__")).partition(".")[0] in OURS


def _raised(at: TracebackType) -> bool:
    """Whether a frame stopped at a ``raise``, rather than at a call of what is not Python."""
    from opcode import opmap

    return at.tb_frame.f_code.co_code[at.tb_lasti] == opmap["RAISE_VARARGS"]
