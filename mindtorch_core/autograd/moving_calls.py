"""Calls of a `Function` whose inputs have tangents: its ``jvp`` gives those of the outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..dispatch.functions import fn
from ..dispatch.keys import FORWARD
from ..gradients.custom_call import FunctionCtx, FunctionNode, record_call
from ..gradients.duals import accompanied, changed, give, other_size, tangent_of, unseen
from ..tensors.tensor import Tensor
from ..values.dtypes import FLOATING

__all__ = ["moving_call"]


def moving_call(
    node_class: type[FunctionNode],
    ctx: FunctionCtx,
    inputs: Sequence[Any],
    forward: Callable[[], Sequence[Any]],
    jvp: Callable[..., Any],
) -> tuple[Any, ...]:
    """`record_call`, and the outputs' tangents if an input has one.

    Args:
        node_class: as there, the others as well.
        ctx: the call's context.
        inputs: of the call.
        forward: makes it.
        jvp: ``jvp(ctx, *tangents)`` gives the tangents of the outputs.

    Raises:
        RuntimeError: if ``jvp`` gives another number of tangents than there are outputs, or one that does
            not fit.
    """
    tangents = [tangent_of(v) for v in inputs]
    if all(t is None for t in tangents):
        return record_call(node_class, ctx, inputs, forward)

    def called() -> tuple[Any, ...]:
        constant: tuple[Any, ...] = ()

        def noted() -> Sequence[Any]:
            nonlocal constant
            raw = forward()
            constant = tuple(
                r._dtype.category < FLOATING or any(r is t for t in ctx._non_differentiable)
                for r in raw
                if isinstance(r, Tensor)
            )
            return raw

        outputs = record_call(node_class, ctx, inputs, noted)
        given = _materialized(tangents, inputs) if ctx._materialize else tangents
        versions = [0 if t is None else t._version for t in tangents]
        found = _found(ctx, jvp, given, outputs)
        for o, made in zip(outputs, found, strict=True):
            for v, t, version in zip(inputs, tangents, versions, strict=True):
                if o is v and t is not None and (made is not t or t._version == version):
                    raise RuntimeError(_NOT_IN_PLACE)
        _settle(ctx, inputs, outputs, found, list(constant))
        return outputs

    found: tuple[Any, ...] = unseen(called)
    return found


_NOT_IN_PLACE: Final = (
    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
    "modifying an input inplace, then the jvp function must modify the corresponding gradient inplace."
)


def _materialized(tangents: list[Any], inputs: Sequence[Any]) -> list[Any]:
    """Zeros in the place of missing tangents."""
    return [
        fn.zeros_like(v.detach())
        if t is None and isinstance(v, Tensor) and v._dtype.category >= FLOATING
        else t
        for t, v in zip(tangents, inputs, strict=True)
    ]


def _found(
    ctx: FunctionCtx, jvp: Callable[..., Any], tangents: list[Any], outputs: tuple[Any, ...]
) -> tuple[Any, ...]:
    """What ``jvp`` gives, which finds what was saved for it in ``ctx.saved_tensors``."""
    kept = ctx._saved
    if ctx._for_forward is not None:
        ctx._saved = tuple(None if t is None else (t, t._version) for t in ctx._for_forward)
    try:
        found = jvp(ctx, *tangents)
    finally:
        ctx._saved, ctx._for_forward = kept, None
    found = found if isinstance(found, tuple) else (found,)
    if len(found) != len(outputs):
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {len(outputs)} but "
            f"got {len(found)})"
        )
    return found


def _settle(
    ctx: FunctionCtx,
    inputs: Sequence[Any],
    outputs: tuple[Any, ...],
    tangents: tuple[Any, ...],
    constant: list[bool],
) -> None:
    """Give outputs their tangents, and what backward has saved of them."""
    tensors = [(i, o) for i, o in enumerate(outputs) if isinstance(o, Tensor)]
    for (i, o), fixed in zip(tensors, constant, strict=True):
        tangent = tangents[i]
        if any(o is v for v in inputs):
            changed(o, tangent)
            continue
        o._keys &= ~FORWARD
        if tangent is None:
            continue
        if fixed:
            raise RuntimeError(
                f"Function's jvp returned a gradient at position {i}, but the corresponding forward output "
                f"is not a differentiable Tensor. You should return None at that position instead."
            )
        if tangent._shape != o._shape:
            raise other_size(o, tangent)
        give(o, tangent)
    ctx._saved = ctx._saved and tuple(
        (each[0], accompanied(each[1], each[0], outputs[each[0]]))
        if each is not None and isinstance(each[0], int)
        else each
        for each in ctx._saved
    )
