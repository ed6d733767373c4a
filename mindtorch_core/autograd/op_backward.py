"""Giving a gradient to an op that is called through the dispatcher: ops that third parties define."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ..dispatch.keys import AUTOGRAD
from ..gradients.custom_call import FunctionCtx, FunctionNode, record_call
from ..tensors.tensor import Tensor

__all__ = ["OpBackward"]

# For each value of a call: None, or the length of the list of tensors it is.
Layout = tuple[int | None, ...]


class _OpCtx(FunctionCtx):
    """The context of an op's call, which also knows where lists of tensors were."""

    _inputs: Layout = ()
    _outputs: Layout = ()


class _OpNode(FunctionNode):
    """Node of an op's call; each `OpBackward` has a subclass with its ``backward``."""

    __slots__ = ()
    ctx: _OpCtx
    backward: ClassVar[Callable[..., Any]]

    def run(self, *grads: Any) -> Any:
        """Call backward with lists where the op has lists, and take its answer apart."""
        ctx = self.ctx
        found = type(self).backward(ctx, *_grouped(grads, ctx._outputs))
        parts = found if isinstance(found, tuple) else (found,)
        layout: Layout = ctx._inputs
        while len(parts) > len(layout) and parts[-1] is None:
            parts = parts[:-1]
        if len(parts) != len(layout):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected "
                f"{len(layout)}, got {len(parts)})"
            )
        flat: list[Any] = []
        for i, (part, length) in enumerate(zip(parts, layout, strict=True)):
            if length is None:
                flat.append(part)
            elif part is None:
                flat += [None] * length
            elif isinstance(part, list | tuple) and len(part) == length:
                flat += part
            else:
                raise RuntimeError(
                    f"function {self.name()} returned no list of {length} gradients for argument {i}, "
                    f"which is a list of {length} tensors"
                )
        return tuple(flat)


class OpBackward:
    """A backward function, and how its context is set up.

    A kernel at an Autograd key calls it with what is below::

        rule = OpBackward("GeneratedBackwardFor_ns_op_default", backward, setup_context)
        registry.register_kernel(
            "ns::op",
            "Autograd",
            lambda keys, *args: rule(lambda *a: redispatch("ns::op", keys - AUTOGRAD, *a), args),
            with_keyset=True,
        )

    Lists of tensors count as one input or output: ``ctx.needs_input_grad`` holds a list there,
    backward is given a list of gradients, and returns one.

    Args:
        name: name of the node.
        backward: ``backward(ctx, *grads)``; returns one value per positional argument, None for
            those without gradient.
        setup_context: called by these names, ``setup_context(ctx, inputs, output)``, and with
            ``keyword_only_inputs`` where the call has such; None if backward needs nothing.
    """

    def __init__(
        self,
        name: str,
        backward: Callable[..., Any],
        setup_context: Callable[..., Any] | None = None,
    ) -> None:
        self._setup_context = setup_context
        members = {"__slots__": (), "backward": staticmethod(backward)}
        self._node_class = type(name, (_OpNode,), members)

    def __call__(
        self,
        forward: Callable[..., Any],
        args: Sequence[Any],
        keyword_only: dict[str, Any] | None = None,
        *,
        inputs: tuple[Any, ...] | None = None,
    ) -> Any:
        """Run ``forward(*args, **keyword_only)`` unrecorded, with this rule as its gradient.

        Args:
            forward: what computes the result.
            args: the call's positional arguments; backward returns a gradient for each, and may
                return None for more.
            keyword_only: its keyword-only arguments.
            inputs: what setup_context is given instead of ``args``, such as with defaults filled in.

        Returns:
            What ``forward`` returned; tensors among it have ``grad_fn`` if an input requires grad.
        """
        options = keyword_only or {}
        ctx = _OpCtx()
        flat, ctx._inputs = _flatten(args)
        ctx.needs_input_grad = tuple(map(_requires_grad, args))
        result: Any = None

        def call() -> list[Any]:
            nonlocal result
            result = forward(*args, **options)
            if self._setup_context is not None:
                seen = {"inputs": tuple(args) if inputs is None else inputs, "output": result}
                if options:
                    seen["keyword_only_inputs"] = options
                self._setup_context(ctx=ctx, **seen)
            outputs, ctx._outputs = _flatten(result if isinstance(result, tuple) else (result,))
            return outputs

        outputs = record_call(self._node_class, ctx, flat, call)
        made = _grouped(outputs, ctx._outputs)
        return made if isinstance(result, tuple) else made[0]


def _requires_grad(value: Any) -> bool | list[bool]:
    if _is_list(value):
        return [isinstance(v, Tensor) and bool(v._keys & AUTOGRAD) for v in value]
    return isinstance(value, Tensor) and bool(value._keys & AUTOGRAD)


def _is_list(value: Any) -> bool:
    """Whether a value is a list of tensors, some of which may be None."""
    return isinstance(value, list | tuple) and all(
        v is None or isinstance(v, Tensor) for v in value
    )


def _flatten(values: Sequence[Any]) -> tuple[list[Any], Layout]:
    """Values with lists of tensors taken apart, and what it takes to group them again."""
    flat: list[Any] = []
    layout: list[int | None] = []
    for v in values:
        if _is_list(v):
            flat += v
            layout.append(len(v))
        else:
            flat.append(v)
            layout.append(None)
    return flat, tuple(layout)


def _grouped(flat: Sequence[Any], layout: Layout) -> tuple[Any, ...]:
    """The inverse of `_flatten`."""
    out: list[Any] = []
    at = 0
    for length in layout:
        if length is None:
            out.append(flat[at])
            at += 1
        else:
            out.append(list(flat[at : at + length]))
            at += length
    return tuple(out)
