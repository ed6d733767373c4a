"""The arguments of a function that is traced: proxies, and values that the caller gave."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any, Final

import mindtorch_core as torch

from ...utils import _pytree as pytree
from ...utils._own_frames import warn_user
from .codegen import _PyTreeCodeGen, _PyTreeInfo
from .naming import is_of_torch
from .proxy import BASE_TYPES
from .wrapping import wrap

__all__ = ["PH", "PHBase", "PHWithMeta", "annotations_of", "arguments_for"]

_SPREAD: Final = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class PHBase:
    """What stands in ``concrete_args`` for a value that is not known."""

    def __repr__(self) -> str:
        return "PH"


PH: Final = PHBase()


class PHWithMeta(PHBase):
    """A `PHBase` whose attributes the argument's node gets.

    Args:
        ph_key: one of them.
    """

    def __init__(self, ph_key: str | None = None) -> None:
        super().__init__()
        self.ph_key = ph_key


def arguments_for(
    tracer: Any, function: FunctionType, is_module: bool, concrete: Any
) -> tuple[Any, list[Any]]:
    """What `Tracer.create_args_for_root` gives.

    Raises:
        RuntimeError: for a method without ``self``, or another number of values than of arguments.
    """
    inner: Any = inspect.unwrap(function)
    code = inner.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    if is_module and count == 0:
        raise RuntimeError("``self`` argument cannot be part of *args expansion!")
    args: list[Any] = [tracer.root] if is_module else []
    names = [*code.co_varnames[len(args) : count]]
    spread = code.co_flags & _SPREAD
    if isinstance(concrete, tuple):
        if concrete and spread and count == 1:
            args += [
                _placeholder(tracer, f"input_{n}", (), each) for n, each in enumerate(concrete)
            ]
            return function, args
        if len(names) != len(concrete):
            raise RuntimeError(
                f"Tracing expected {len(names)} arguments but got {len(concrete)} concrete arguments"
            )
        concrete = dict(zip(names, concrete, strict=True))
    maker = _Arguments(tracer, inner, concrete or {})
    args += map(maker.make, names)
    target: Any = function
    if code.co_kwonlyargcount or spread:
        last = iter(code.co_varnames[count:])
        for flag, stars in ((inspect.CO_VARARGS, "*"), (inspect.CO_VARKEYWORDS, "**")):
            if code.co_flags & flag:
                args.append(maker.make(stars + next(last)))
        target = _by_position(function, len(args))
    flat, spec = pytree.tree_flatten(tuple(args))
    if all(child.is_leaf() for child in spec.children()):
        return target, args
    info = _PyTreeInfo([*code.co_varnames[:count]], spec, None)
    tracer.graph._codegen = codegen = _PyTreeCodeGen(info)

    def flattened(*leaves: Any) -> list[Any]:
        out, out_spec = pytree.tree_flatten(target(*pytree.tree_unflatten(leaves, spec)))
        codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
        return out

    flattened.__annotations__.clear()  # the function's own say what is returned
    return flattened, flat


class _Arguments:
    """Makes the proxies of a function's arguments."""

    def __init__(self, tracer: Any, function: Any, concrete: dict[str, Any]) -> None:
        self.tracer = tracer
        self.parameters = inspect.signature(function).parameters
        self.annotations = annotations_of(function)
        self.concrete = concrete

    def make(self, name: str) -> Any:
        """The proxy of an argument, or the value that the caller gave with proxies in it."""
        parameter = self.parameters.get(name)
        has_default = parameter is not None and parameter.default is not parameter.empty
        default = (parameter.default,) if has_default else ()  # type: ignore[union-attr]
        if name not in self.concrete:
            kind = self.annotations.get(name)
            return self.tracer.create_proxy("placeholder", name, default, {}, type_expr=kind)
        number = 0

        def leaf(value: Any) -> Any:
            nonlocal number
            number += 1
            proxy = _placeholder(self.tracer, f"{name}_{number}", default, value)
            if isinstance(value, PHBase):
                return proxy
            self._hold(name, proxy, value)
            return value

        return pytree.tree_map(leaf, self.concrete[name])

    def _hold(self, name: str, proxy: Any, value: Any) -> None:
        """Have the graph check that an argument has the value that it was traced with."""
        said = f"{name} has been specialized to have value {value} but got another value"
        if value is None:
            self.tracer.create_proxy("call_function", _assert_is_none, (proxy, said), {})
        elif type(value) in BASE_TYPES and type(value) is not torch.Tensor:
            torch._assert(proxy == value, said)
        else:
            warn_user(
                f"Was not able to add assertion to guarantee correct input {name} to specialized function. "
                f"It is up to the user to make sure that your inputs match the inputs you specialized the "
                f"function with."
            )


def annotations_of(function: Any) -> dict[str, Any]:
    """A function's annotations, as the graph has them; those of ours that say nothing are left out."""
    function = inspect.unwrap(function)
    if not is_of_torch(function):
        return inspect.get_annotations(function)
    try:
        found = inspect.get_annotations(function, eval_str=True)
    except NameError:  # of a module that type checkers alone import
        return {}
    return {name: kind for name, kind in found.items() if kind is not Any}


def _placeholder(tracer: Any, name: str, default: tuple[Any, ...], value: Any) -> Any:
    proxy = tracer.create_proxy("placeholder", name, default, {})
    if isinstance(value, PHBase) and value is not PH:
        for attribute, each in vars(value).items():
            if not hasattr(proxy.node, attribute):
                setattr(proxy.node, attribute, each)
    return proxy


def _by_position(function: FunctionType, count: int) -> FunctionType:
    """A function that takes all its arguments by position, those with stars as one each."""
    code = function.__code__.replace(
        co_argcount=count,
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_flags=function.__code__.co_flags & ~_SPREAD,
    )
    names = function.__globals__
    return FunctionType(code, names, function.__name__, function.__defaults__, function.__closure__)


@wrap
def _assert_is_none(value: Any, msg: str) -> None:
    assert value is None, msg


_assert_is_none.__module__ = f"{__package__}._symbolic_trace"  # graphs show where PyTorch has it
