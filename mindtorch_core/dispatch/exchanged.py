"""Functions whose code is exchanged for some that stands before it, so that they stay the same object.

A function's code can only be exchanged for code with as many free variables, and Python finds these in
a frame only where the compiler knew of them. So what stands before a function is compiled with the names
of that function's free variables.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, Final

from .calls.generated import Template, compile_function, own, own_scope

__all__ = ["as_it_was", "exchange", "exchanged_with"]

_MAKE: Final = own("@make")
# The free variables stand behind what always returns: they cost a call nothing.
_CLOSURE: Final = Template("""\
def @make($free):
    def @called($parameters):
        $body
        $mentioned
    return @called
""")
# Frames of files with such a name are those of imports to `warnings`: ``stacklevel`` does not count them.
_IMPORT: Final = "importlib._bootstrap"
_FILE: Final = "{}, to warnings " + _IMPORT
CO_VARARGS, CO_VARKEYWORDS = 4, 8  # of a code's flags
_CODES: Final[dict[tuple[Template, tuple[str, ...]], tuple[CodeType, Callable[..., Any]]]] = {}


class _Signature:
    """What a function takes, as ``inspect`` shows it, which is not imported before somebody asks.

    Args:
        function: as it was written.
    """

    def __init__(self, function: FunctionType) -> None:
        self._function = function

    @property
    def _own(self) -> Any:
        import inspect

        return inspect.signature(self._function)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self._own.__class__

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def __str__(self) -> str:
        return str(self._own)

    def __repr__(self) -> str:
        return repr(self._own)

    def __eq__(self, other: object) -> bool:
        return bool(self._own == other)

    def __hash__(self) -> int:
        return hash(self._own)

    def __reduce__(self) -> Any:
        return self._own.__reduce__()


def as_it_was(function: FunctionType) -> FunctionType:
    """Another function that does what a function does now."""
    original = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__,
        function.__closure__,
    )  # fmt: skip
    original.__kwdefaults__ = function.__kwdefaults__
    original.__annotations__ = function.__annotations__
    original.__qualname__ = function.__qualname__
    original.__dict__.update(function.__dict__)
    return original


def exchange(
    function: FunctionType, original: FunctionType, name: str, body: Template, **used: Any
) -> None:
    """Exchange a function's code.

    Args:
        function: stays the same object.
        original: does what the function did, and becomes its ``__wrapped__``: see `as_it_was`.
        name: says what stands before the function, in the name of its file.
        body: its lines, with ``@args`` and ``@kwargs`` for what a call gives, ``@original``, and
            ``@name`` for each of the others that it uses. Every way through it returns or raises.
        used: those others, by name.
    """
    scope = own_scope({"original": original, **used})
    code = _code(name, body, function.__code__.co_freevars, tuple(scope))
    names = code.co_varnames + _arguments(original)  # programs look there for what a function takes
    code = code.replace(
        co_name=function.__name__,
        co_qualname=function.__code__.co_qualname,
        co_varnames=names,
        co_nlocals=len(names),
    )
    function.__wrapped__ = original  # type: ignore[attr-defined]
    function.__signature__ = _Signature(original)  # type: ignore[attr-defined]
    function.__defaults__ = None
    function.__kwdefaults__ = scope
    function.__code__ = code


def _arguments(function: Any) -> tuple[str, ...]:
    """The names of a function's arguments."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = function.__code__
    stars = bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    found: tuple[str, ...] = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars]
    return found


def exchanged_with(function: FunctionType, name: str) -> bool:
    """Whether what stands before a function uses something of that name: see `exchange`."""
    return own(f"@{name}") in (function.__kwdefaults__ or ())


def _code(name: str, body: Template, free: tuple[str, ...], used: tuple[str, ...]) -> CodeType:
    found = _CODES.get((body, free))
    if found is None:
        source = _CLOSURE.fill(
            free=", ".join(free),
            parameters=own(f"*@args, {', '.join(used)}, **@kwargs"),
            body=body.fill(),
            mentioned=", ".join(free),
        )
        make = compile_function(_MAKE, source, {}, file=_FILE.format(name))
        # What was made keeps its source visible.
        found = _CODES[body, free] = make(*free).__code__, make
    return found[0]
