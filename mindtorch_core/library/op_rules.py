"""What autocast and ``vmap`` do with an op, and rules of ops under dispatch modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..dispatch.keys import DispatchKey
from ..dispatch.registry import registry
from ..frontend.dispatch_modes import DispatchMode, register_rule
from ..values.dtypes import dtype
from .by_name import existing_name, library_for
from .registration import Library, qualified_parts

__all__ = ["register_autocast", "register_torch_dispatch", "register_vmap"]

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

    Example:
        >>> @torch.library.custom_op("docs::product", mutates_args=())
        ... def product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        ...     return x * y
        >>> torch.library.register_autocast("docs::product", "cpu", torch.bfloat16)
        >>> with torch.autocast("cpu"):
        ...     product(torch.ones(1), torch.ones(1)).dtype
        torch.bfloat16

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

    Example:
        >>> class Plain(torch.DispatchMode):
        ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        ...         return func(*args, **(kwargs or {}))
        >>> @torch.library.register_torch_dispatch("aten::neg", Plain)
        ... def keep_sign(mode, func, types, args, kwargs):
        ...     return args[0].clone()
        >>> with Plain():
        ...     torch.neg(torch.ones(1))
        tensor([1.])

    Raises:
        RuntimeError: if there is no such op.
        TypeError: if ``mode`` is no class of modes.
    """
    name = existing_name(op)
    owner = library_for(qualified_parts(name)[0], "IMPL", lib)

    def register(rule: F) -> F:
        owner._made.append(register_rule(name, mode, rule))
        return rule

    return register if func is None else register(func)


def register_vmap(op: Any, func: F | None = None, /, *, lib: Library | None = None) -> Any:
    """Register how ``torch.vmap`` computes an op for all samples at once; a decorator without ``func``.

    Args:
        op: name, overload or custom op.
        func: ``func(info, in_dims, *args, **kwargs)`` returns ``(output, out_dims)``. ``info`` has
            ``batch_size`` and ``randomness``; ``in_dims`` says of each argument in which dimension its
            samples lie, None where it is the same for all; ``out_dims`` so of the output.
        lib: the library to register it through; without one it lives as long as the process.

    Example:
        >>> @torch.library.custom_op("docs::twice", mutates_args=())
        ... def twice(x: torch.Tensor) -> torch.Tensor:
        ...     return x * 2
        >>> @torch.library.register_vmap("docs::twice")
        ... def twice_of_samples(info, in_dims, x):
        ...     return twice(x), in_dims[0]
        >>> torch.vmap(twice)(torch.ones(2, 1))
        tensor([[2.],
                [2.]])

    Raises:
        AttributeError: if there is no such op.
        NotImplementedError: if the op has tensors that go by keyword only.
    """
    from ..func.custom_functions import mapped

    name = existing_name(op, missing=AttributeError)
    schema = registry.entry(name).schema
    if schema is not None and any(a.type.startswith("Tensor") for a in schema.keyword_only):
        raise NotImplementedError(
            f"register_vmap with kwarg-only Tensor args. In the original definition of the op, please make "
            f"your tensors not kwarg-only. Got: {schema}"
        )
    owner = library_for(qualified_parts(name)[0], "IMPL", lib)

    def register(rule: F) -> F:
        made = registry.register_kernel(name, DispatchKey.FuncTorchBatched, mapped(rule))
        owner._made.append(made)
        return rule

    return register if func is None else register(func)
