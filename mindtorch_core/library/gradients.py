"""Gradients of ops that are defined by their schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

from ..autograd.op_backward import OpBackward
from ..dispatch.dispatcher import kernel_below
from ..dispatch.keys import AUTOGRAD, DispatchKey, DispatchKeySet
from ..dispatch.registry import registry
from ..dispatch.schema import OperatorSchema
from ..frontend.dispatch_modes import without_defaults
from .by_name import existing_name, library_for
from .registration import Library, qualified_parts

__all__ = ["record_gradient", "refuse_backward", "register_autograd"]

# Stands for the default of an argument that has none.
_REQUIRED: Final = object()


def register_autograd(
    op: Any,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Library | None = None,
) -> None:
    """Register an op's gradient.

    ``setup_context(ctx, inputs, output)`` is called after the op and may save what backward needs
    (``ctx.save_for_backward`` for tensors, attributes for the rest); ``inputs`` holds every
    positional argument, defaults filled in, and where the op has keyword-only arguments they come
    by name as ``keyword_only_inputs``. ``backward(ctx, *grads)`` gets a gradient for each output and
    returns one for each positional argument, None for those that have none.

    Args:
        op: name, overload or custom op.
        backward: computes gradients; made of differentiable ops, it can be differentiated again.
        setup_context: None if backward needs nothing of the call.
        lib: the library to register it through; without one it lives as long as the process.

    Example:
        >>> @torch.library.custom_op("docs::cube", mutates_args=())
        ... def cube(x: torch.Tensor) -> torch.Tensor:
        ...     return torch.from_numpy(x.numpy() ** 3)
        >>> def setup_context(ctx, inputs, output):
        ...     ctx.save_for_backward(inputs[0])
        >>> def backward(ctx, grad):
        ...     (x,) = ctx.saved_tensors
        ...     return grad * 3 * x * x
        >>> torch.library.register_autograd("docs::cube", backward, setup_context=setup_context)
        >>> x = torch.tensor([2.0], requires_grad=True)
        >>> cube(x).sum().backward()
        >>> x.grad
        tensor([12.])

    Raises:
        AttributeError: if there is no such op.
        RuntimeError: if it writes to its arguments.
        NotImplementedError: if it has keyword-only tensor arguments.
    """
    name = existing_name(op, missing=AttributeError)
    own = getattr(op, "_lib", None) if lib is None else lib
    record_gradient(
        name, backward, setup_context, library_for(qualified_parts(name)[0], "IMPL", own)
    )


def record_gradient(
    name: str,
    backward: Callable[..., Any],
    setup_context: Callable[..., Any] | None,
    lib: Library,
) -> None:
    """Register the kernel at Autograd that records the op with a gradient."""
    schema = registry.entry(name).needed_schema
    if schema.is_mutable:
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {name} with schema "
            f"{schema}. Please create a functional operator and register an autograd formula for that."
        )
    if any(a.type == "Tensor" for a in schema.keyword_only):
        raise NotImplementedError(
            f"register_autograd with kwarg-only Tensor args. In the original definition of the op, "
            f"please make your tensors not kwarg-only. Got: {schema}"
        )
    rule = OpBackward(f"GeneratedBackwardFor_{_dotless(name)}Backward", backward, setup_context)
    entry = registry.entry(name)
    positional = schema.positional
    defaults = tuple(a.default if a.has_default else _REQUIRED for a in positional)
    options = {a.name: a.default for a in schema.keyword_only if a.has_default}

    def recording(keyset: DispatchKeySet, /, *args: Any, **kwargs: Any) -> Any:
        kernel = kernel_below(entry, keyset.mask & ~AUTOGRAD)
        if len(args) < len(positional):  # not called by its schema
            rest = zip(positional[len(args) :], defaults[len(args) :], strict=True)
            args = (*args, *[kwargs.pop(a.name, default) for a, default in rest])
        return rule(
            lambda *_, **given: kernel(*args, **given),
            without_defaults(args, defaults),  # for which backward need return no gradients
            {**options, **kwargs} or None,
            inputs=args,
        )

    recording.__source__ = backward  # type: ignore[attr-defined]  # shown as the registration's place
    lib._made.append(
        registry.register_kernel(name, DispatchKey.Autograd, recording, with_keyset=True)
    )


def _dotless(name: str) -> str:
    base, _, overload = name.replace("::", "_").partition(".")
    return f"{base}_{overload or 'default'}"


def refuse_backward(name: str, lib: Library) -> None:
    """Let backward through a custom op without gradient raise, instead of only warning."""

    def backward(ctx: Any, *grads: Any) -> NoReturn:
        raise RuntimeError(
            f"Trying to backward through {name.replace('::', '.')}.default but no autograd formula "
            f"was registered. Please use register_autograd to add one."
        )

    schema = registry.entry(name).schema
    if schema is not None and not schema.is_mutable and not _keyword_tensors(schema):
        record_gradient(name, backward, None, lib)


def _keyword_tensors(schema: OperatorSchema) -> bool:
    return any(a.type == "Tensor" for a in schema.keyword_only)
