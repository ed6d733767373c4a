"""``torch.jit``: decorators give back what they get, since functions run as Python; scripts are not made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn, TypeVar, cast

from ..absent import names_of

__all__ = [
    "Attribute",
    "Error",
    "Final",
    "TracerWarning",
    "annotate",
    "export",
    "fork",
    "freeze",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "onednn_fusion_enabled",
    "optimize_for_inference",
    "optimized_execution",
    "script",
    "script_if_tracing",
    "script_method",
    "trace",
    "trace_module",
    "unused",
    "wait",
]

del annotations  # the module torch.jit.annotations has that name

_T = TypeVar("_T")
_isinstance = isinstance

_absent_name = names_of(__name__)


def __getattr__(name: str) -> Any:
    if name == "ScriptModule":  # its base class is a module's, which not every program asks for
        from ._script import ScriptModule

        return ScriptModule
    return _absent_name(name)


class TracerWarning(Warning):
    """What a tracer would warn of; nothing is traced here."""


class Error(Exception):
    """What a script would raise; none is made here."""


def is_scripting() -> bool:
    """False: functions run as Python."""
    return False


def is_tracing() -> bool:
    """False: nothing is traced."""
    return False


def script(obj: _T, *args: Any, **kwargs: Any) -> _T:
    """The function, class or module itself: it runs as Python."""
    return obj


def trace(
    func: _T,
    example_inputs: Any = None,
    *args: Any,
    example_kwarg_inputs: dict[str, Any] | None = None,
    **kwargs: Any,
) -> _T:
    """The function or module itself, called once with the examples: it runs as Python.

    What it does may depend on values, which a trace of PyTorch's would have fixed.

    Raises:
        RuntimeError: for no examples at all.
    """
    if example_inputs is None:
        if example_kwarg_inputs is None:
            raise RuntimeError(
                "example_kwarg_inputs should be a dict where there are no example_inputs"
            )
        cast("Callable[..., Any]", func)(**example_kwarg_inputs)
    else:
        _called(func, example_inputs)
    return func


def trace_module(mod: _T, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> _T:
    """The module itself; each method that ``inputs`` names is called once with its examples.

    Raises:
        AttributeError: for inputs that are no dict of examples by the names of methods.
    """
    if not _isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    for name, examples in inputs.items():
        _called(mod if name == "forward" else getattr(mod, name), examples)
    return mod


def _called(func: Any, examples: Any) -> None:
    """Call a function with examples: a sequence is its arguments, anything else its only one."""
    func(*(examples if _isinstance(examples, tuple | list) else (examples,)))


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function itself, or a decorator that gives it back."""
    return drop if callable(drop) else (lambda fn: fn)


def unused(fn: _T) -> _T:
    """The function itself."""
    return fn


def export(fn: _T) -> _T:
    """The function itself."""
    return fn


def script_method(fn: _T) -> _T:
    """The method itself: classes that mark methods for a script run them as Python."""
    return fn


def interface(obj: _T) -> _T:
    """The class itself."""
    return obj


def script_if_tracing(fn: _T) -> _T:
    """The function itself: nothing is traced."""
    return fn


_script_if_tracing = script_if_tracing


def _overload_method(fn: _T) -> _T:
    """The function itself."""
    return fn


def _overload(fn: _T) -> _T:
    """The function itself."""
    return fn


def annotate(the_type: Any, the_value: _T) -> _T:
    """The value itself."""
    return the_value


def Attribute(value: _T, type: Any) -> _T:
    """The value itself."""
    return value


def freeze(mod: _T, *args: Any, **kwargs: Any) -> _T:
    """The module itself.

    Raises:
        RuntimeError: for a module in training mode, as PyTorch does.
    """
    if getattr(mod, "training", False):
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode.")
    return mod


def optimize_for_inference(mod: _T, *args: Any, **kwargs: Any) -> _T:
    """The module itself, in evaluation mode."""
    return mod.eval() if hasattr(mod, "eval") else mod


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether an object is of a type; a generic one counts by its origin."""
    origin = getattr(target_type, "__origin__", target_type)
    return _isinstance(obj, origin)


def fork(func: Callable[..., _T], *args: Any, **kwargs: Any) -> _T:
    """Call a function at once: what `wait` takes is its result."""
    return func(*args, **kwargs)


def wait(future: _T) -> _T:
    """The result of `fork`.

    Raises:
        RuntimeError: for None.
    """
    if future is None:
        raise RuntimeError("Future can't be None")
    return future


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """Change nothing while the block lasts: no script is optimized."""
    yield


@contextmanager
def strict_fusion() -> Iterator[None]:
    """Change nothing while the block lasts."""
    yield


def onednn_fusion_enabled() -> bool:
    """False: there is no such fusion."""
    return False


def enable_onednn_fusion(enabled: bool) -> None:
    """Do nothing for False.

    Raises:
        NotImplementedError: for True.
    """
    if enabled:
        _absent("enable_onednn_fusion")


def _absent(name: str) -> NoReturn:
    raise NotImplementedError(
        f"torch.jit.{name} is not part of mindtorch: there is no oneDNN to fuse for"
    )
