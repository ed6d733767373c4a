"""What autocast does with an op, and rules of ops under dispatch modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..dtypes import dtype
from ..modes import DispatchMode, register_rule
from .fake import existing_name
from .registration import Library, library_for, qualified_parts

__all__ = ["register_autocast", "register_torch_dispatch"]

F = TypeVar("F", bound=Callable[..., Any])


def register_autocast(
    op: Any, device_type: str, cast_inputs: dtype, /, *, lib: Library | None = None
) -> None:
    """Cast an op's floating-point inputs to a dtype where autocast is on for a device type.

    Args:
        op: name, overload or custom op.
        device_type: such as ``"cpu"``.
        cast_inputs: dtype that floating-point tensors are cast to.
        lib: the library to register it through; without one it lives as long as the process.

    Raises:
        AttributeError: if there is no such op.
        RuntimeError: if there is no autocast on the device type.
    """
    from ..amp.cast import set_policy

    name = existing_name(op, missing=AttributeError)
    owner = library_for(qualified_parts(name)[0], "IMPL", lib)
    owner._made.append(set_policy(name, device_type, cast_inputs))


def register_torch_dispatch(
    op: Any,
    mode: type[DispatchMode],
    func: F | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """Register a rule for an op under a class of modes; a decorator without ``func``.

    Args:
        op: name, overload or custom op.
        mode: a subclass of `DispatchMode`.
        func: ``func(mode, func, types, args, kwargs)``, used instead of the mode's own handler.
        lib: the library to register it through; without one it lives as long as the process.
    """
    name = existing_name(op)
    owner = library_for(qualified_parts(name)[0], "IMPL", lib)

    def register(rule: F) -> F:
        owner._made.append(register_rule(name, mode, rule))
        return rule

    return register if func is None else register(func)
