"""For packages above the core: classes that say what their constructors take when they are called wrongly."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from ..dispatch.calls.generated import Template
from ..dispatch.exchanged import as_it_was, exchange, exchanged_with
from ..dispatch.nearest import suggestion
from ..values.devices import concrete
from ..values.own_frames import hide

__all__ = ["Constructed", "refusal"]

_OURS: Final = "mindtorch_nn."  # in others' classes "device" may mean anything


class Constructed:
    """Base of classes whose wrong calls are refused with the arguments that there are.

    Python's own error, raised before ``__init__`` runs, names the argument alone. What the constructors of
    mindtorch refuse shows none of their frames.
    """

    __slots__ = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith(_OURS) and "__init__" in cls.__dict__:
            _hide_frames(cls.__dict__["__init__"])

    if not TYPE_CHECKING:  # type checkers look at __init__

        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            """An object, if ``__init__`` will take the arguments."""
            if args or kwargs:
                error = refusal(cls, args, kwargs)
                if error is not None:
                    raise error
                device = kwargs.get("device")
                if device is not None and cls.__init__.__module__.startswith(_OURS):
                    concrete(device)  # one that is not there is said here, not far below
            above = super().__new__
            return above(cls) if above is object.__new__ else above(cls, *args, **kwargs)


_HIDING: Final = Template("""\
try:
    return @original(*@args, **@kwargs)
except Exception as @error:
    @hide(@error)
    raise
""")


def _hide_frames(init: Any) -> None:
    """Have a constructor's errors show no frame of mindtorch's, where it raised them on purpose."""
    if isinstance(init, FunctionType) and not exchanged_with(init, "hide"):
        exchange(init, as_it_was(init), "who hides frames", _HIDING, hide=hide)


def _written(init: Any) -> Any:
    """A constructor as its class has it: its errors may be hidden by another."""
    hiding = isinstance(init, FunctionType) and exchanged_with(init, "hide")
    return init.__wrapped__ if hiding else init


def refusal(cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError | None:
    """The error for arguments that a class's ``__init__`` does not take; None if it takes them."""
    shown: Any = cls.__init__  # type: ignore[misc]  # whichever class of the bases defines it
    own = _written(shown)
    code = getattr(own, "__code__", None)
    if code is None:
        return TypeError(f"{cls.__name__}() takes no arguments") if own is object.__init__ else None
    count = code.co_argcount
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return _declared(cls, shown, args, kwargs)
    names = code.co_varnames[1 : count + code.co_kwonlyargcount]
    for name in kwargs:
        if name not in names:
            return _unexpected(cls, name)
    if len(args) >= count:
        required = count - len(own.__defaults__ or ())
        takes = f"{count}" if required == count else f"from {required} to {count}"
        several = "s" if count > 1 else ""
        return TypeError(
            f"{cls.__name__}.__init__() takes {takes} positional argument{several} but {len(args) + 1} were "
            f"given. {_arguments(cls)}"
        )
    if not kwargs.keys().isdisjoint(names[: len(args)]):
        return None  # given twice: Python says so
    left = names[len(args) : count - 1 - len(own.__defaults__ or ())]
    missing = [f"'{name}'" for name in left if name not in kwargs]
    if not missing:
        return None
    several = "s" if len(missing) > 1 else ""
    listed = " and ".join(missing)
    if len(missing) > 2:
        listed = f"{', '.join(missing[:-1])}, and {missing[-1]}"
    return TypeError(
        f"{cls.__name__}.__init__() missing {len(missing)} required positional argument{several}: "
        f"{listed}. {_arguments(cls)}"
    )


def _declared(
    cls: type, own: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> TypeError | None:
    """The same where ``__init__`` hands its arguments on and says by a signature what they are."""
    said = getattr(own, "__signature__", None)
    if said is None or any(p.kind is p.VAR_KEYWORD for p in said.parameters.values()):
        return None
    known = {*said.parameters, *_handed_to(cls)}
    unknown = next((name for name in kwargs if name not in known), None)
    return None if unknown is None else _unexpected(cls, unknown)


def _handed_to(cls: type) -> tuple[str, ...]:
    """Names that the ``__init__`` takes which arguments are handed on to: it may say more of them."""
    for base in cls.__mro__:
        code = getattr(_written(base.__dict__.get("__init__")), "__code__", None)
        if code is not None and not code.co_flags & inspect.CO_VARKEYWORDS:
            names: tuple[str, ...] = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            return names
    return ()


def _unexpected(cls: type, name: str) -> TypeError:
    known = [p for p in inspect.signature(cls).parameters if p != "self"]
    near = suggestion(name, known)
    return TypeError(
        f"{cls.__name__}.__init__() got an unexpected keyword argument '{name}'.{near} {_arguments(cls)}"
    )


def _arguments(cls: type) -> str:
    shown = [
        p.name if p.default is p.empty else f"{p.name}={p.default!r}"
        for p in inspect.signature(cls).parameters.values()
    ]
    return f"The arguments are: {cls.__name__}({', '.join(shown)})"
