"""Where PyTorch programs import dispatch modes from, and what classes with ``__torch_dispatch__`` need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dispatch.functions import fn
from ..frontend.dispatch_modes import DispatchMode as TorchDispatchMode
from ..frontend.dispatch_modes import active_modes, without_modes
from ..opdefs.tags import Tag
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

    Raises:
        AssertionError: if ``__tensor_unflatten__`` makes a tensor of another shape or other strides.
    """
    size = t.size() if outer_size is None else outer_size
    stride = t.stride() if outer_stride is None else outer_stride
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    made = type(t).__tensor_unflatten__(inner, context, size, stride)
    for what, wanted, found in (("shape", size, made.shape), ("stride", stride, made.stride())):
        if found != wanted:
            raise AssertionError(
                f"Expected return value from {type(t)}__tensor_unflatten__() to have {what} equal to "
                f"{wanted}, but got: {found}"
            )
    return made


def return_and_correct_aliasing(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any
) -> Any:
    """What a ``__torch_dispatch__`` is to return, with the aliases that the op's schema promises.

    Results that the op writes become the arguments themselves, views share the storage of what they are a
    view of, and a wrapper that an op such as ``t_`` makes another view in place has the shape of that view.

    Args:
        func: the op.
        args: the arguments that the handler was given.
        kwargs: its keyword arguments.
        out: what it computed.

    Raises:
        AssertionError: for a view of another class than that of what it is a view of.
    """
    schema = func._schema
    given: dict[tuple[str, ...], Any] = {}
    for i, a in enumerate(schema.arguments):
        value = args[i] if i < len(args) else kwargs.get(a.name)
        if a.alias is not None and value is not None:
            given[a.alias.sets] = value
            if a.alias.is_write and Tag.inplace_view in func.tags:
                _take_shape(func, value, (*args[:i], *args[i + 1 :]), kwargs)
    several = len(schema.returns) > 1
    made = list(out) if several else [out]
    for i, returned in enumerate(schema.returns):
        value = None if returned.alias is None else given.get(returned.alias.sets)
        if value is None:
            continue
        if returned.alias.is_write:
            made[i] = value
        else:
            _share_storage(func, value, made[i])
    return type(out)(made) if several else made[0]


def _take_shape(func: Any, t: Tensor, others: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Give a wrapper the shape that an op gives a tensor in place; other tensors have it already."""
    if t._settled()._payload is not None:
        return
    shown = fn.empty_strided(t.size(), t.stride(), dtype=t._dtype, device="meta")
    with without_modes():
        func(shown, *others, **kwargs)
    t._shape, t._strided = shown._shape, shown._geometry()


def _share_storage(func: Any, value: Tensor, views: Any) -> None:
    """Have what a handler made as views of a tensor share its storage."""
    for view in views if isinstance(views, tuple | list) else (views,):
        kinds = type(value), type(view)
        if kinds[0] is not kinds[1] and any(map(is_traceable_wrapper_subclass_type, kinds)):
            raise AssertionError(
                f"Called {func} with input of type {kinds[0]}\nand output of type {type(views)}. But "
                f"expected types to match."
            )
        if view is not value:
            view._storage = value._own_storage()
