"""Switching gradient recording on and off for the current thread.

Recording is governed by the dispatch masks: while it is off, the Autograd keys are excluded, so an
op goes straight to the kernels below.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ..dispatch.keys import AUTOGRAD, MASKS, DispatchKey, set_masks

__all__ = ["enable_grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]

F = TypeVar("F", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """Whether ops on tensors that require grad are recorded in this thread."""
    return bool(MASKS.keep & DispatchKey.Autograd)


def _set(enabled: bool) -> tuple[int, int]:
    keep = MASKS.keep | AUTOGRAD if enabled else MASKS.keep & ~AUTOGRAD
    return set_masks(MASKS.include, keep)


class _GradMode:
    """A context manager, also a decorator, that sets the mode and restores it."""

    __slots__ = ("_previous",)
    enabled = False

    def __init__(self) -> None:
        self._previous: list[bool] = []

    def __enter__(self) -> None:
        self._previous.append(is_grad_enabled())
        _set(self.enabled)

    def __exit__(self, *exc_info: object) -> None:
        _set(self._previous.pop())

    def __call__(self, fn: F) -> F:
        @functools.wraps(fn)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with type(self)():
                return fn(*args, **kwargs)

        return wrapped  # type: ignore[return-value]


class no_grad(_GradMode):
    """Record nothing inside: ``with torch.no_grad():`` or ``@torch.no_grad()``."""

    __slots__ = ()
    enabled = False

    def __new__(cls, fn: Callable[..., Any] | None = None) -> Any:
        """Make a context, or decorate ``fn`` when used without parentheses."""
        made = object.__new__(cls)
        if fn is None:
            return made
        made.__init__()  # type: ignore[misc]
        return made(fn)


class enable_grad(_GradMode):
    """Record inside, also within ``no_grad``."""

    __slots__ = ()
    enabled = True

    def __new__(cls, fn: Callable[..., Any] | None = None) -> Any:
        """Make a context, or decorate ``fn`` when used without parentheses."""
        made = object.__new__(cls)
        if fn is None:
            return made
        made.__init__()  # type: ignore[misc]
        return made(fn)


class set_grad_enabled:
    """Switch recording on or off, at once; as a context manager until its end."""

    __slots__ = ("_previous",)

    def __init__(self, mode: bool) -> None:
        self._previous = is_grad_enabled()
        _set(bool(mode))

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc_info: object) -> None:
        _set(self._previous)
