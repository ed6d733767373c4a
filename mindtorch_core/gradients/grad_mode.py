"""Switching gradient recording on and off for the current thread.

Recording is governed by the dispatch masks: while it is off, the Autograd keys are excluded, so an
op goes straight to the kernels below. The alias key `DispatchKey.Autograd` in the mask of kept keys
says whether gradients are enabled; the runtime keys follow it, except in inference mode, where
they stay excluded.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, overload

from ..dispatch.keys import AUTOGRAD, FORWARD, MASKS, DispatchKey, is_grad_enabled, set_masks
from ..tensors.autograd_state import INFERENCE
from ..values.interrupts import from_entry
from ..values.user_warnings import warn_user

__all__ = [
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

# What inference mode switches off: gradients, and tangents as well.
_DERIVATIVES: Final = AUTOGRAD | FORWARD

F = TypeVar("F", bound=Callable[..., Any])


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside `inference_mode`."""
    return bool(MASKS.include & INFERENCE)


def keep_mask(keep: int, enabled: bool) -> int:
    """The mask of kept keys with gradients enabled or not, for this thread."""
    if not enabled:
        return keep & ~AUTOGRAD
    allowed = DispatchKey.Autograd if MASKS.include & INFERENCE else AUTOGRAD
    return keep | (allowed & ~MASKS.blocked)


def _set(enabled: bool) -> None:
    keep = MASKS.keep
    set_masks(MASKS.include, keep_mask(keep, True) if enabled else keep & ~AUTOGRAD)


class _Context:
    """A context manager that is also a decorator, for functions and generator functions."""

    __slots__ = ()

    def __enter__(self) -> None:
        raise NotImplementedError

    @from_entry
    def __exit__(self, *exc_info: object) -> None:
        try:
            self._leave()
        except BaseException:  # interrupts come where functions begin: nothing has been done yet
            self._leave()
            raise

    def _leave(self) -> None:
        """Make things as they were; may be called again if it was interrupted."""

    def _again(self) -> _Context:
        """A new context of the same kind: calls of a decorated function may nest."""
        return type(self)()

    def __call__(self, fn: F) -> F:
        """Decorate ``fn``: every call runs inside the context, a generator's every step."""
        import inspect  # not part of the core's import, of which it would be a tenth

        if isinstance(fn, type):
            warn_user(
                "Decorating classes is deprecated and will be disabled in future versions: what the context "
                "surrounds is the making of instances. Decorate `__init__`, or the methods.",
                FutureWarning,
            )
        if inspect.isgeneratorfunction(fn):
            return _stepwise(fn, self._again)  # type: ignore[return-value]

        @functools.wraps(fn)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return fn(*args, **kwargs)

        return wrapped  # type: ignore[return-value]


def _stepwise(fn: Callable[..., Any], context: Callable[[], _Context]) -> Callable[..., Any]:
    """A generator function whose body runs inside a context, while its consumer does not."""

    @functools.wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        generator = fn(*args, **kwargs)
        step: Callable[[Any], Any] = generator.send
        value: Any = None
        try:
            while True:
                with context():
                    produced = step(value)
                try:
                    value, step = (yield produced), generator.send
                except GeneratorExit:
                    raise
                except BaseException as error:  # noqa: BLE001  (handed on to the generator)
                    value, step = error, generator.throw
        except StopIteration as end:
            return end.value
        finally:
            with context():
                generator.close()

    return wrapped


class _GradMode(_Context):
    """Sets whether gradients are enabled, and restores what was."""

    __slots__ = ("_previous",)
    enabled: bool

    if TYPE_CHECKING:

        @overload
        def __new__(cls, fn: None = None) -> Self: ...

        @overload
        def __new__(cls, fn: F) -> F: ...  # type: ignore[misc]  # what it decorates

    def __new__(cls, fn: Callable[..., Any] | None = None) -> Any:
        """Make a context, or decorate ``fn`` when used without parentheses."""
        made = object.__new__(cls)
        made._previous = []
        return made if fn is None else made(fn)

    _previous: list[bool]

    def __enter__(self) -> None:
        self._previous += (is_grad_enabled(),)
        try:
            _set(self.enabled)
        except BaseException:  # an interrupt, before anything was done
            del self._previous[-1]
            raise

    def _leave(self) -> None:
        _set(self._previous[-1])
        del self._previous[-1]


class no_grad(_GradMode):
    """Record nothing inside: ``with torch.no_grad():`` or ``@torch.no_grad()``.

    Args:
        fn: a function, if it is used as a decorator without parentheses.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.no_grad():
        ...     y = x * 2
        >>> y.requires_grad
        False
    """

    __slots__ = ()
    enabled = False


class enable_grad(_GradMode):
    """Record inside, also within ``no_grad``.

    Args:
        fn: a function, if it is used as a decorator without parentheses.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.no_grad(), torch.enable_grad():
        ...     y = x * 2
        >>> y.requires_grad
        True
    """

    __slots__ = ()
    enabled = True


class set_grad_enabled(_Context):
    """Switch recording on or off, at once; as a context manager until its end.

    As a decorator it leaves the mode as it was, and sets it for every call of the function.

    Args:
        mode: whether ops are recorded.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.set_grad_enabled(False):
        ...     y = x * 2
        >>> y.requires_grad
        False
    """

    __slots__ = ("_mode", "_previous")

    def __init__(self, mode: bool) -> None:
        self._mode = bool(mode)
        self._previous = is_grad_enabled()
        _set(self._mode)

    def __enter__(self) -> None:
        _set(self._mode)

    def _leave(self) -> None:
        _set(self._previous)

    def _again(self) -> _Context:
        return set_grad_enabled(self._mode)

    def __call__(self, fn: F) -> F:
        """Decorate ``fn``, and take back what making this context has set."""
        _set(self._previous)
        return super().__call__(fn)


class set_multithreading_enabled(_Context):
    """Accepted for PyTorch's sake: backward always runs in the thread that calls it.

    Args:
        mode: remembered.
    """

    __slots__ = ("mode",)

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        return None

    def _again(self) -> _Context:
        return set_multithreading_enabled(self.mode)


class inference_mode(_Context):
    """Record nothing, count no versions, and make inference tensors, which autograd never accepts.

    It is for code whose results never meet autograd: ``with torch.inference_mode():``, or as a
    decorator, with or without parentheses.

    Args:
        mode: ``inference_mode(False)`` inside another one gives a region with normal tensors and
            gradients enabled.

    Example:
        >>> with torch.inference_mode():
        ...     y = torch.ones(2) * 2
        >>> y.is_inference()
        True
    """

    __slots__ = ("_previous", "mode")

    mode: bool
    _previous: list[tuple[int, int]]

    if TYPE_CHECKING:

        @overload
        def __new__(cls, mode: bool = True) -> Self: ...

        @overload
        def __new__(cls, mode: F) -> F: ...  # type: ignore[misc]  # what it decorates

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        """Make a context, or decorate a function when used without parentheses."""
        made = object.__new__(cls)
        made._previous = []
        if isinstance(mode, bool):
            made.mode = mode
            return made
        made.mode = True
        return made(mode)

    def __enter__(self) -> None:
        include, keep = MASKS.include, MASKS.keep
        self._previous += ((include, keep),)
        try:
            if self.mode:
                set_masks(include | INFERENCE, keep & ~_DERIVATIVES)
            else:
                set_masks(include & ~INFERENCE, keep | _DERIVATIVES)
        except BaseException:  # an interrupt, before anything was done
            del self._previous[-1]
            raise

    def _leave(self) -> None:
        set_masks(*self._previous[-1])
        del self._previous[-1]

    def _again(self) -> _Context:
        return type(self)(self.mode)
