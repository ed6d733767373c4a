"""Functions written in Python whose calls ``__torch_function__`` can override.

Until there is somebody to override anything they are as they were written. Then their code is
exchanged, once, for some that asks first: names that programs have imported before stay right, and
programs that override nothing pay nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, TypeVar

from .calls.generated import Template
from .exchanged import as_it_was, exchange
from .keys import FUNCTION_MODES, MASKS
from .overrides import TENSOR, active, beneath, handle

__all__ = ["GIVEN", "arm_functions", "ask_first", "overridable", "overridable_functions"]

F = TypeVar("F", bound=Callable[..., Any])

_FUNCTIONS: Final[dict[FunctionType, bool]] = {}  # and whether modes alone are asked
_ARMED: Final[list[bool]] = []
Given = Callable[[tuple[Any, ...], dict[str, Any]], tuple[tuple[Any, ...], dict[str, Any]]]
GIVEN: Final[dict[str, Given]] = {}  # functions that say themselves what handlers are given


def overridable(function: F, *, by_modes_alone: bool = False) -> F:
    """Decorator: let a function's calls be overridden, as PyTorch's of that name can be.

    Handlers are given what has no default by position and the rest by keyword, as those of PyTorch's
    functions in Python are.

    Args:
        function: it stays as it is until there is somebody to override it.
        by_modes_alone: whether the classes of its arguments are not asked.
    """
    if isinstance(function, FunctionType):
        _FUNCTIONS[function] = by_modes_alone
        if _ARMED:
            _arm(function, by_modes_alone)
    return function


def _arm(function: FunctionType, by_modes_alone: bool) -> None:
    given = None if by_modes_alone else GIVEN.get(function.__name__) or _by_signature(function)
    ask_first(function, function, given, asked=0 if by_modes_alone else None)


def overridable_functions() -> list[Callable[..., Any]]:
    """All functions that the decorator was given."""
    return list(_FUNCTIONS)


def arm_functions() -> None:
    """Have all of them ask first, those too that come later."""
    if not _ARMED:
        _ARMED.append(True)
        for function, by_modes_alone in tuple(_FUNCTIONS.items()):
            _arm(function, by_modes_alone)


def _by_signature(function: FunctionType) -> Given:
    import inspect  # not part of the core's import, of which it would be a tenth

    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    spread = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    required = {p.name for p in parameters if p.default is p.empty and p.kind is not p.KEYWORD_ONLY}

    def given(
        args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if spread:
            return args, kwargs
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = bound.arguments
        positional = tuple(v for name, v in values.items() if name in required)
        return positional, {n: v for n, v in values.items() if n not in required}

    return given


def _as_written(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, kwargs


_ASKING: Final = Template("""\
@answer = @relay(@args, @kwargs)
return @original(*@args, **@kwargs) if @answer is @relay else @answer
""")


def ask_first(
    function: FunctionType,
    shown: Callable[..., Any],
    given: Given | None = None,
    *,
    asked: int | None = None,
) -> None:
    """Exchange a function's code for some that asks whether its call is overridden.

    Args:
        function: it stays the same object; what it was is its ``__wrapped__``.
        shown: what handlers are told is called.
        given: what arguments handlers are given; None for a function that is none of PyTorch's
            functions in Python, whose handlers are given what stands in the call.
        asked: how many arguments may override it; None for all.
    """
    original = as_it_was(function)
    arguments = given or _as_written
    masks, tensor_type = MASKS, TENSOR[0]

    def relay(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        alone = asked or (len(args) == 1 and not kwargs)
        if alone and args and type(args[0]) is tensor_type and not masks.include & FUNCTION_MODES:
            return relay
        values = (*args, *kwargs.values()) if asked is None else args[:asked]
        if not active(values):
            return relay if asked != 0 else beneath(original, args, kwargs)
        return handle(shown, values, *arguments(args, kwargs), written_in_python=given is not None)

    exchange(function, original, "who asks for overrides", _ASKING, relay=relay)
