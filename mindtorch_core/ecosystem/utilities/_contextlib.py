"""``torch.utils._contextlib``: contexts as decorators of functions, and of generators at every step."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ...gradients.grad_mode import _stepwise
from ...values.user_warnings import warn_user

__all__ = [
    "_DecoratorContextManager",
    "_NoParamDecoratorContextManager",
    "_wrap_generator",
    "context_decorator",
]

F = TypeVar("F", bound=Callable[..., Any])


def _wrap_generator(ctx_factory: Callable[[], Any], func: F) -> F:
    """A generator function each step of which runs in a context of its own."""
    return _stepwise(func, ctx_factory)  # type: ignore[return-value]


def context_decorator(ctx: Any, func: Callable[..., Any]) -> Callable[..., Any]:
    """A function that runs inside a context.

    Args:
        ctx: a context that can be entered again and again, or what makes one.
        func: the function, or generator function.

    Raises:
        AssertionError: if ``ctx`` could be both.
        RuntimeError: if ``func`` is a class.
    """
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise AssertionError(
            f"Passed in {ctx} is both callable and also a valid context manager (has __enter__), making it "
            "ambiguous which interface to use.  If you intended to pass a context manager factory, rewrite "
            "your call as context_decorator(lambda: ctx()); if you intended to pass a context manager "
            "directly, rewrite your call as context_decorator(lambda: ctx)"
        )
    factory = ctx if callable(ctx) else lambda: ctx
    if inspect.isclass(func):
        raise RuntimeError(
            "Cannot decorate classes; it is ambiguous whether or not only the constructor or all methods "
            "should have the context manager applied; additionally, decorating a class at definition-site "
            "will prevent use of the identifier as a conventional type.  To specify which methods to "
            "decorate, decorate each of them individually."
        )
    if inspect.isgeneratorfunction(func):
        return _wrap_generator(factory, func)

    @functools.wraps(func)
    def inside(*args: Any, **kwargs: Any) -> Any:
        with factory():
            return func(*args, **kwargs)

    return inside


class _DecoratorContextManager:
    """A context that is a decorator too: derive from it, and give it ``__enter__`` and ``__exit__``."""

    def __call__(self, orig_func: F) -> F:
        function: Callable[..., Any] = orig_func
        if inspect.isclass(orig_func):
            warn_user(
                "Decorating classes is deprecated and will be disabled in future versions. You should only "
                "decorate functions or methods. To preserve the current behavior of class decoration, you "
                "can directly decorate the `__init__` method and nothing else.",
                FutureWarning,
            )

            def function(*args: Any, **kwargs: Any) -> Any:
                return orig_func(*args, **kwargs)

        return context_decorator(self.clone, function)  # type: ignore[return-value]

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        raise NotImplementedError

    def clone(self) -> Any:
        """A new one, as calls may nest; a class whose ``__init__`` takes arguments has its own."""
        return type(self)()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One that decorates without parentheses too."""

    def __new__(cls, orig_func: Any = None) -> Any:
        made = super().__new__(cls)
        return made if orig_func is None else cls()(orig_func)
