"""``torch.overrides``: what classes with ``__torch_function__`` and function modes need."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterable
from typing import Any, Final

from .dispatch.functions import FUNCTIONS, names_in
from .dispatch.overrides import MODES, active, handle
from .dispatch.registry import registry
from .dispatch.written_functions import overridable_functions
from .frontend.overriding import LEFT_ALONE, BaseTorchFunctionMode, TorchFunctionMode, members
from .opdefs.packets import OpMethod
from .opdefs.torch_ops import OpOverload, OpOverloadPacket
from .tensors.subclasses import NOT_WRAPPED
from .tensors.tensor import Tensor

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]

# Where users find functions of ops.
_PLACES: Final = {
    "torch": "torch",
    "torch.Tensor": "Tensor",
    "torch.nn.functional": "nn",
    "torch.linalg": "linalg",
    "torch.fft": "fft",
    "torch.special": "special",
    "torch.masked": "masked",
}
_IGNORED: Final = """
    arange as_tensor asarray broadcast_shapes can_cast empty enable_grad eye frombuffer from_dlpack from_numpy
    full get_default_dtype initial_seed is_grad_enabled is_storage is_tensor linspace load logspace
    manual_seed no_grad ones promote_types rand randint randn randperm range save seed set_default_dtype
    set_grad_enabled set_printoptions sparse_coo_tensor tensor tril_indices triu_indices typename zeros
"""
_ROOT: Final = __name__.rpartition(".")[0]
_SHARED: Final = frozenset({"is_storage", "is_tensor", "typename"})


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether a call with these arguments is overridden, by one of their classes or by a mode."""
    return active(tuple(relevant_args))


def has_torch_function_unary(arg: Any) -> bool:
    """`has_torch_function` of one argument."""
    return active((arg,))


def has_torch_function_variadic(*args: Any) -> bool:
    """`has_torch_function` of the arguments of the call."""
    return active(args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], /, *args: Any, **kwargs: Any
) -> Any:
    """Have a call answered by the innermost mode, or by the classes of its arguments.

    Args:
        public_api: the function that was called.
        relevant_args: the arguments whose classes are asked.
        args: of the call.
        kwargs: of the call.

    Raises:
        TypeError: if all of them return NotImplemented.
    """
    return handle(public_api, tuple(relevant_args), args, kwargs, written_in_python=True)


def wrap_torch_function(
    dispatcher: Callable[..., Iterable[Any]],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: let calls of a function be overridden.

    Args:
        dispatcher: takes what the function takes and returns the arguments whose classes are asked.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def asking(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if active(relevant):
                return handle_torch_function(asking, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return asking

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """Whether an object is a tensor, or has a ``__torch_function__``."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether a function that a handler was given is a method, or an accessor of a property."""
    return func in _index()["torch.Tensor"].values() or getattr(func, "__name__", "") == "__get__"


def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """Functions whose results `Tensor.__torch_function__` leaves as they are."""
    return set(NOT_WRAPPED)


# ---- what can be overridden ---------------------------------------------------------------------


@functools.cache
def _index() -> dict[str, dict[str, Callable[..., Any]]]:
    """By place and name, the functions that can be overridden."""
    registry.on_demand.define_all()
    found: dict[str, dict[str, Callable[..., Any]]] = {}
    for place, namespace in _PLACES.items():
        names = [n for n in names_in(namespace) if n[0] != "_" or n[:2] == "__"]
        found[place] = {name: FUNCTIONS[namespace][name].function() for name in names}
    found["torch.Tensor"] |= _methods()
    known = {id(function) for functions in found.values() for function in functions.values()}
    for function in overridable_functions():
        if id(function) not in known and function.__name__ not in _SHARED:
            module = function.__module__
            place = "torch.nn.functional" if module.startswith("mindtorch_core.nn") else "torch"
            place = "torch.nn.init" if module.endswith("nn.init") else place
            found.setdefault(place, {})[function.__name__] = function
    return found


def _methods() -> dict[str, Callable[..., Any]]:
    """Methods of `Tensor`, and the accessors of its properties."""
    found: dict[str, Callable[..., Any]] = {}
    for name, member in tuple(vars(Tensor).items()):
        if isinstance(member, OpMethod) or (callable(member) and name[:2] == "__"):
            function = getattr(Tensor, name, None)
            if name not in LEFT_ALONE and inspect.isfunction(function):
                found[name] = function
    for name, member in members():
        if isinstance(member, property):
            found[f"{name}.__get__"] = member.__get__
            if member.fset is not None:
                found[f"{name}.__set__"] = member.__set__
        else:
            found[name] = member
    return found


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """The functions that can be overridden, by the place where users find them.

    Places are modules, and `Tensor`.
    """
    out: dict[Any, list[Callable[..., Any]]] = {}
    for place, functions in _index().items():
        path = place.replace("torch", _ROOT, 1)
        where = Tensor if place == "torch.Tensor" else importlib.import_module(path)
        out[where] = list(functions.values())
    return out


def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """For each function that can be overridden, one with its signature that returns -1."""
    functions = [f for here in _index().values() for f in here.values()]
    return {function: _dummy(function) for function in functions}


def _dummy(function: Callable[..., Any]) -> Callable[..., Any]:
    def dummy(*args: Any, **kwargs: Any) -> int:
        return -1

    shown: Any = dummy
    if inspect.isfunction(function):
        shown.__signature__ = inspect.signature(function)
    else:
        shown.__signature__ = inspect.signature(lambda self: -1)
    return dummy


def get_ignored_functions() -> set[Callable[..., Any]]:
    """Functions that are never handed to classes of tensors, though users call them."""
    torch = importlib.import_module(_ROOT)
    ignored = {getattr(torch, name) for name in _IGNORED.split() if hasattr(torch, name)}
    methods = [getattr(Tensor, name, None) for name in LEFT_ALONE]
    return ignored | {m for m in methods if m is not None and callable(m)}


def resolve_name(f: Callable[..., Any]) -> str | None:
    """A readable name of a function that a handler was given; None for one that is not known."""
    if isinstance(f, OpOverload | OpOverloadPacket):
        return str(f)
    for place, functions in _index().items():
        for name, function in functions.items():
            if function is f or (name.endswith("__") and function == f):
                return f"{place}.{name}"
    return None


def _get_current_function_mode() -> Any:
    """The innermost mode that is open in this thread, or None."""
    return MODES.stack[-1] if MODES.stack else None


def _get_current_function_mode_stack() -> list[Any]:
    """The modes that are open in this thread, outermost first."""
    return list(MODES.stack)
