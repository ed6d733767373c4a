"""Functions written in Python that say of a wrong call what they take, and show no frame of their own."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, TypeVar

from ..values.own_frames import hide, reword
from .calls.binding import named
from .calls.failures import say_as_called
from .calls.generated import Template
from .exchanged import as_it_was, exchange, exchanged_with
from .nearest import suggestion

__all__ = ["arguments_of", "guarded"]

F = TypeVar("F", bound=Callable[..., Any])

_TENSORS: Final = (
    "Tensor",
    "Tensor | None",
)  # annotations of arguments that are nothing but tensors


def guarded(function: F, *, checks: bool = False) -> F:
    """Decorator: have the errors of a function's calls name the function, its arguments, and theirs alone.

    Python's error for an unknown or missing argument names that alone; what is no tensor may fail
    anywhere inside, for the lack of an attribute that the user never named. The function stays the same
    object: its code is exchanged, see `exchange`. It costs one call of Python's.

    Args:
        function: is called by users; of one that is decorated, that which was written.
        checks: whether it says itself which of its arguments are no tensors.
    """
    written: Any = function
    while isinstance(inner := getattr(written, "__wrapped__", None), FunctionType):
        if exchanged_with(written, "explain"):
            return function  # by another of its names
        written = inner
    if isinstance(written, FunctionType):
        explain = _explain_call if checks else _explain
        exchange(
            written, as_it_was(written), "who explains errors", _GUARD, explain=explain, hide=hide
        )
    return function


_GUARD: Final = Template("""\
try:
    return @original(*@args, **@kwargs)
except Exception as @error:
    try:
        @explain(@original, @error, @args, @kwargs)
    except TypeError as @error:
        @hide(@error)
        raise
    raise
""")


def _explain(
    function: FunctionType, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Give the error of a failed call better words, if there are any, and hide frames.

    Raises:
        TypeError: in its place, if what is no tensor lacks an attribute.
    """
    if not _not_taken(function, error):
        if isinstance(error, TypeError | AttributeError):
            wrong = _no_tensor(function, args, kwargs)
            if wrong and isinstance(error, AttributeError):
                raise TypeError(wrong) from None
            if wrong and not str(error).startswith(f"{function.__name__}(): "):
                reword(error, wrong)
        elif isinstance(error, OSError) and error.filename is not None:
            reword(error, *error.args)  # a file that cannot be opened
        else:
            code = function.__code__
            given = zip(code.co_varnames[: code.co_argcount], args, strict=False)
            say_as_called(function.__name__, error, {**dict(given), **kwargs})
    hide(error)


def _explain_call(
    function: FunctionType, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """The same for a function whose own words of its arguments are right."""
    _not_taken(function, error)
    hide(error)


def _not_taken(function: FunctionType, error: Exception) -> bool:
    """Whether Python itself refused the arguments; then its error says which there are."""
    at = error.__traceback__
    if not isinstance(error, TypeError) or at is None or at.tb_next is not None:
        return False
    text = str(error)
    reword(error, f"{text}{arguments_of(function, text)}")
    return True


def arguments_of(function: Callable[..., Any], text: str) -> str:
    """What is added to Python's error for arguments that a function does not take: those that there are."""
    import inspect  # not part of the core's import

    parameters = [
        p for p in inspect.signature(function).parameters.values() if not p.name.startswith("_")
    ]
    given = text.partition("unexpected keyword argument '")[2].partition("'")[0]
    near = suggestion(given, [p.name for p in parameters]) if given else ""
    shown = ", ".join(
        f"{p.name}" if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters
    )
    return f".{near} The arguments are: {function.__name__}({shown})"


def _no_tensor(function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """What is to be said of the first argument that should be a tensor and is none; or nothing."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = dict(zip(names, args, strict=False)) | kwargs
    for position, name in enumerate(names, 0 if names[:1] == ("self",) else 1):
        kind = "Tensor" if name == "self" else function.__annotations__.get(name)
        if name not in given or kind not in _TENSORS:
            continue
        value = given[name]
        if hasattr(value, "_keys") or hasattr(type(value), "__torch_function__"):
            continue
        if value is not None or kind == _TENSORS[0]:
            shown, at = (name, position) if position else ("input", 1)  # the method as a function
            return (
                f"{function.__name__}(): argument '{shown}' (position {at}) must be Tensor, not "
                f"{named(value)}"
            )
    return ""
