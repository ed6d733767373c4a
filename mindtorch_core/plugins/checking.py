"""What is wrong with a plugin, and where in its files: mistakes that would be silent otherwise."""

from __future__ import annotations

from types import FunctionType, TracebackType
from typing import TYPE_CHECKING, Any

from ..dispatch.entry import source_of
from ..runtime import Runtime

if TYPE_CHECKING:
    from importlib_metadata import EntryPoint

    from .backend import Backend

__all__ = ["check_fields", "check_hooks", "line_of", "package_of"]


def package_of(ep: EntryPoint) -> str:
    """The top-level package of a plugin."""
    return ep.value.partition(":")[0].partition(".")[0]


def line_of(ep: EntryPoint, error: BaseException) -> str:
    """The innermost line of a plugin's package that an exception went through, or an empty text."""
    package, found = package_of(ep), ""
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        if str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0] == package:
            found = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found


def check_hooks(plugin: object) -> None:
    """Refuse a function with the name of a hook that is not marked as one: nobody would call it.

    Raises:
        TypeError: naming the function and its line.
    """
    from . import hookspecs

    for name in vars(hookspecs):
        fn = getattr(plugin, name, None) if name.startswith(f"{hookspecs.PROJECT}_") else None
        if callable(fn) and not hasattr(fn, f"{hookspecs.PROJECT}_impl"):
            raise TypeError(
                f"{name} at {source_of(fn)} is not marked as a hook: decorate it with "
                f"mindtorch_core.plugins.hookimpl"
            )


def check_fields(backend: Backend) -> None:
    """Refuse a description with fields of other types than they have.

    Raises:
        TypeError: naming the field, or the method of the runtime that cannot be called.
    """
    for name, kind in (("device", str), ("api", int), ("known_failures", str)):
        value = getattr(backend, name)
        if not isinstance(value, kind):
            raise TypeError(f"Backend({name}=...) takes {_a(kind)}, got {value!r}")
    if backend.key is not None and not isinstance(backend.key, str):
        raise TypeError(f"Backend(key=...) takes a key's name or None, got {backend.key!r}")
    if backend.numerics is not None:
        from .numerics import Numerics  # few backends say something, and all pay for imports

        if not isinstance(backend.numerics, Numerics):
            raise TypeError(
                f"Backend(numerics=...) takes a mindtorch_core.plugins.Numerics, got "
                f"{backend.numerics!r}"
            )
    if not isinstance(backend.runtime, Runtime):
        raise TypeError(
            f"Backend(runtime=...) takes an instance of a class derived from "
            f"mindtorch_core.runtime.Runtime, got {backend.runtime!r}"
        )
    for name, method in vars(Runtime).items():
        if isinstance(method, FunctionType) and not name.startswith("_"):
            _check_method(backend.runtime, name, method)


def _check_method(runtime: Runtime, name: str, protocol: FunctionType) -> None:
    """Refuse a runtime's own method that cannot take the protocol's arguments."""
    own: Any = getattr(runtime, name)
    code = getattr(own, "__code__", None)
    wanted = protocol.__code__
    if code is not None and (code is wanted or _alike(own, protocol)):
        return
    shown = f"{type(runtime).__name__}.{name}"
    if not callable(own):
        raise TypeError(f"{shown} must be a method, but is {own!r}")
    import inspect  # not part of the core's import, of which it would be a tenth

    _, *arguments = inspect.signature(protocol).parameters.values()
    positional = [p for p in arguments if p.kind is p.POSITIONAL_OR_KEYWORD]
    required = [p for p in positional if p.default is p.empty]
    for given in (positional, required):
        try:
            inspect.signature(own).bind(*given)
        except TypeError as error:
            raise TypeError(
                f"{shown} at {source_of(own)} cannot be called as the core does, with "
                f"({', '.join(p.name for p in given)}): {error}"
            ) from None


def _alike(own: Any, protocol: FunctionType) -> bool:
    """Whether a method takes as many arguments as the protocol's, with as many defaults."""
    return bool(
        own.__code__.co_argcount == protocol.__code__.co_argcount
        and len(own.__defaults__ or ()) == len(protocol.__defaults__ or ())
        and not own.__code__.co_kwonlyargcount
    )


def _a(kind: type) -> str:
    return f"{'an' if kind is int else 'a'} {kind.__name__}"
