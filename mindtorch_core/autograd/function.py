"""`torch.autograd.Function`: operations whose gradient a user writes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from ..dispatch.keys import AUTOGRAD, FORWARD, MASKS, is_grad_enabled, without_gradients
from ..gradients.custom_call import ASKED_FIRST, FunctionCtx, FunctionNode, record_call
from ..gradients.duals import LEVELS as DUAL_LEVELS
from ..gradients.node import Error
from ..gradients.vmap_levels import LEVELS
from ..tensors.autograd_state import AutogradMeta
from ..tensors.tensor import Tensor
from ..values.devices import TABLE
from ..values.own_frames import hide, reword
from ..values.user_warnings import warn_user
from .moving_calls import moving_call

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]

F = TypeVar("F", bound=Callable[..., Any])


class _FunctionNode(FunctionNode):
    """Node of a `Function`'s call; each Function has a subclass, named after it."""

    __slots__ = ()
    _forward_cls: ClassVar[type[Function]]

    def run(self, *grads: Any) -> Any:
        """Call the Function's backward."""
        return run_backward(self._forward_cls, self.ctx, grads)


def run_backward(cls: type[Function], ctx: Any, grads: Sequence[Any]) -> Any:
    """Call a Function's backward, whatever its name."""
    has_vjp = cls.vjp is not Function.vjp
    if has_vjp and cls.backward is not Function.backward:
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
            "should only implement one of them."
        )
    return (cls.vjp if has_vjp else cls.backward)(ctx, *grads)


class Function:
    """Base class of operations whose gradient you write yourself.

    A subclass has a static ``forward`` and a static ``backward``, and is called by ``apply``::

        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return 2 * x * g

        y = Square.apply(x)

    With a static ``setup_context(ctx, inputs, output)``, ``forward`` takes no ``ctx``. ``forward``
    runs unrecorded; ``backward`` is recorded where a higher derivative is wanted.

    Under transforms of `torch.func` a Function needs a `setup_context`, and inside ``vmap`` either
    ``generate_vmap_rule = True``, if it is written in ops that know ``vmap``, or a static `vmap` of its own.
    """

    generate_vmap_rule: ClassVar[bool] = False
    _backward_cls: ClassVar[type[_FunctionNode]] = _FunctionNode

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        members = {"__slots__": (), "_forward_cls": cls, "__module__": cls.__module__}
        cls._backward_cls = type(f"{cls.__name__}Backward", (_FunctionNode,), members)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn_user(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, "
            f"so you should invoke them on the class itself.",
            DeprecationWarning,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: Functions are called by ``apply`` of the class.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(
            f"Legacy autograd function with non-static forward method is deprecated. Write a static "
            f"forward method and call {type(self).__name__}.apply(...)."
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs: ``forward(ctx, ...)``, or ``forward(...)`` with a `setup_context`."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save what backward needs, apart from `forward`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Gradients of the inputs from those of the outputs: one for each input of `forward`."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function "
            "to use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Tangents of the outputs from those of the inputs: one for each output of `forward`."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward "
            "mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """Compute the outputs for many samples: ``(outputs, out_dims)``.

        Args:
            info: ``batch_size`` and ``randomness``.
            in_dims: for each input the dimension of its samples, None where it is the same for all.
            args: the inputs of `forward`, with all samples.
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the operation.

        Returns:
            What ``forward`` returned, tensors with ``grad_fn`` if an input requires grad.
        """
        for asked in ASKED_FIRST:
            if (answer := asked(cls.apply, args, kwargs)) is not NotImplemented:
                return answer
        separate = cls.setup_context is not Function.setup_context
        if separate:
            import inspect  # not part of the core's import, of which it would be a tenth

            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        if LEVELS.stack or LEVELS.gradients:
            mapped = _transformed(cls, separate, args, kwargs)
            if mapped is not NotImplemented:
                return mapped
        ctx = FunctionCtx()
        inputs = (*args, *kwargs.values())
        ctx.needs_input_grad = tuple(
            isinstance(v, Tensor) and bool(v._keys & AUTOGRAD) for v in inputs
        )
        single = False

        def forward() -> tuple[Any, ...]:
            nonlocal single
            if separate:
                found = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, inputs, found)
            else:
                try:
                    found = cls.forward(ctx, *args, **kwargs)
                except TypeError as error:
                    if error.__traceback__ is None or error.__traceback__.tb_next is None:
                        reword(error, str(error))  # arguments that it does not take
                    raise
            single = not isinstance(found, tuple)
            return (found,) if single else tuple(found)

        try:
            if DUAL_LEVELS and MASKS.keep & FORWARD:
                outputs = moving_call(cls._backward_cls, ctx, inputs, forward, cls.jvp)
            else:
                outputs = record_call(cls._backward_cls, ctx, inputs, forward)
        except Exception as error:
            hide(error)
            raise
        return outputs[0] if single else outputs


def _transformed(
    cls: type[Function], separate: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What a call inside ``vmap`` gives; NotImplemented: the same as everywhere."""
    if not separate:
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, "
            "...), it must override the setup_context staticmethod: forward then takes no ctx, and "
            "setup_context(ctx, inputs, output) saves what backward needs."
        )
    if not LEVELS.stack:
        return NotImplemented
    try:
        return LEVELS.stack[-1].call(cls, args, kwargs)
    except Exception as error:
        hide(error)
        raise


class InplaceFunction(Function):
    """The base class of Functions that may write to their inputs, from before ``mark_dirty``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def once_differentiable(fn: F) -> F:
    """Decorate a ``backward`` that cannot be differentiated; a second derivative then raises."""

    @functools.wraps(fn)
    def backward(ctx: Any, *grads: Any) -> Any:
        found = without_gradients(fn, ctx, *grads)
        if not is_grad_enabled():
            return found
        return refused_twice(grads, found)

    backward._once_differentiable = True  # type: ignore[attr-defined]  # asked inside `vmap`
    return backward  # type: ignore[return-value]


def refused_twice(grads: Sequence[Any], found: Any) -> Any:
    """What a backward returned, whose own differentiation raises if the gradients it got have one."""
    if not any(isinstance(g, Tensor) and g._keys & AUTOGRAD for g in grads):
        return found
    parts = found if isinstance(found, tuple) else (found,)
    node = Error(
        "trying to differentiate twice a function that was marked with @once_differentiable",
        outputs=len(parts),
    )
    refusing = tuple(_at(node, i, g) for i, g in enumerate(parts))
    return refusing if isinstance(found, tuple) else refusing[0]


def _at(node: Error, i: int, g: Any) -> Any:
    """A gradient as output of a node that refuses to be walked."""
    if not isinstance(g, Tensor):
        return g
    out = g.detach()
    out._autograd = AutogradMeta(node, i)
    out._keys |= TABLE[out._device.type].autograd_key
    return out
