"""Ops whose arguments are widened to the dtype of their result before they compute."""

from __future__ import annotations

import functools
from typing import Any

from ...opdefs.op_overload import OpOverload
from ...opdefs.torch_ops import ops
from ...tensors.tensor import Tensor
from ...values.promotion import promote_types

__all__ = ["out_dtype"]


@functools.cache
def _allowed() -> list[OpOverload]:
    """The ops that may be widened."""
    aten = ops.aten
    return [
        aten.linear.default,
        aten.mm.default,
        aten.conv2d.default,
        aten.convolution.default,
        aten.mul.Tensor,
        aten.mul.Scalar,
        aten.div.Tensor,
        aten.div.Scalar,
    ]


def out_dtype(op: OpOverload, output_dtype: Any, *args: Any) -> Tensor:
    """What an op gives for wider arguments, such as the product of int8 matrices in int32.

    Args:
        op: an overload, such as ``torch.ops.aten.mm.default``.
        output_dtype: of the result.
        args: of the op; tensors are widened to what they and that dtype are promoted to.

    Raises:
        ValueError: for another kind of op.
        RuntimeError: if an argument requires a gradient: there is none.
    """
    if not isinstance(op, OpOverload):
        raise ValueError("out_dtype's first argument must be an OpOverload")
    if op._schema.is_mutable:
        raise ValueError("out_dtype's first argument needs to be a functional operator")
    if op not in _allowed():
        raise ValueError(f"out_dtype only allows the following operators: {_allowed()}.")
    tensors = [each for each in args if isinstance(each, Tensor)]
    if any(each.requires_grad for each in tensors):
        raise RuntimeError("Autograd not implemented for out_dtype")
    wide = functools.reduce(promote_types, (each.dtype for each in tensors), output_dtype)
    found: Tensor = op(*(each.to(wide) if isinstance(each, Tensor) else each for each in args))
    return found.to(output_dtype)
