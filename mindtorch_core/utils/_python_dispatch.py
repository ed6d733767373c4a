"""Where PyTorch programs import dispatch modes from, and what classes with ``__torch_dispatch__`` need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..frontend.dispatch_modes import DispatchMode as TorchDispatchMode
from ..frontend.dispatch_modes import active_modes, without_modes
from ..tensors.tensor import Tensor

__all__ = [
    "TorchDispatchMode",
    "is_traceable_wrapper_subclass",
    "is_traceable_wrapper_subclass_type",
    "return_and_correct_aliasing",
]


_disable_current_modes = without_modes


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    """The innermost dispatch mode of this thread, or None."""
    modes = active_modes()
    return modes[-1] if modes else None


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    """The dispatch modes of this thread, outermost first."""
    return list(active_modes())


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Whether a tensor's class says what tensors it is made of, and how to make it of others."""
    return isinstance(t, Tensor) and is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Whether a class of tensors has ``__tensor_flatten__`` and ``__tensor_unflatten__``."""
    return (
        t is not Tensor
        and issubclass(t, Tensor)
        and hasattr(t, "__tensor_flatten__")
        and hasattr(t, "__tensor_unflatten__")
    )


def transform_subclass(
    t: Any, callback: Callable[[str, Any], Any], outer_size: Any = None, outer_stride: Any = None
) -> Any:
    """The same wrapper around other tensors.

    Args:
        t: a tensor of a class with ``__tensor_flatten__``.
        callback: called with the name and the value of each inner tensor; returns the other one.
        outer_size: shape of the result; by default that of ``t``.
        outer_stride: its strides; by default those of ``t``.
    """
    size = t.size() if outer_size is None else outer_size
    stride = t.stride() if outer_stride is None else outer_stride
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    return type(t).__tensor_unflatten__(inner, context, size, stride)


def return_and_correct_aliasing(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any
) -> Any:
    """What a ``__torch_dispatch__`` is to return, with the aliases that the op's schema promises.

    Results that the op writes become the arguments themselves, and views share the storage of what
    they are a view of.

    Args:
        func: the op.
        args: the arguments that the handler was given.
        kwargs: its keyword arguments.
        out: what it computed.
    """
    schema = func._schema
    given: dict[frozenset[str], Any] = {}
    for i, a in enumerate(schema.arguments):
        value = args[i] if i < len(args) and not a.kwarg_only else kwargs.get(a.name)
        if a.alias is not None and value is not None:
            given[frozenset(a.alias.before_set)] = (a, value)
    results = out if isinstance(out, tuple | list) else (out,)
    several = len(schema.returns) > 1
    made = list(results)
    for i, result in enumerate(results):
        of = schema.returns[i if several else 0].alias
        if of is None:
            continue
        a, value = given.get(frozenset(of.before_set), (None, None))
        if a is None:
            continue
        if a.is_write:
            made[i] = value
        elif isinstance(value, Tensor) and isinstance(result, Tensor) and result is not value:
            result._storage = value._own_storage()
    if out is None or not isinstance(out, tuple | list):
        return made[0]
    return type(out)(made)
