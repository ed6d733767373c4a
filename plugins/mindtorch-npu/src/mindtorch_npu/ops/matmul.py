"""Matrix products."""

from __future__ import annotations

import functools
import re
from typing import Any, Final

from mindtorch_core.backend import Tensor, dtype, numel

from ..creation import fill
from ..runtime import RUNTIME
from .operands import flat, made, number, reshaped, takes, transposed
from .steps import Work, rule_of, steps

__all__ = ["precision"]

# Chips whose matrix units multiply float32 as it is; older ones, "Ascend910B" without a number among
# them, have none for it and compute in float16.
_SINGLE: Final = re.compile(r"Ascend(910B\d|910_9|950)")
# CANN's modes of computation: in the dtype itself, or in a lower one.
_KEEP, _MAY_LOWER = 0, 1


@functools.cache
def precision() -> int:
    """How matrix products and convolutions treat float32: exactly, where the chip can."""
    return _KEEP if _SINGLE.match(RUNTIME.name()) else _MAY_LOWER


def _product(operator: str, spec: Any, a: Tensor, b: Tensor) -> Work | None:
    """A product into a fresh result."""
    d: dtype = spec.dtype
    if a.raw_dtype is not d or b.raw_dtype is not d or not takes(operator, d):
        return None
    out = made(spec, a.raw_device)
    if not numel(spec.shape):
        return out, []
    if not a.raw_shape[-1]:
        return out, fill(out, 0)
    return out, [(operator, (a, b, out, precision()))]


@steps("aten::mm")
def mm(self: Any, mat2: Any) -> Work | None:
    """Product of two matrices."""
    return _product("Mm", rule_of("mm")(self, mat2), self, mat2)


@steps("aten::bmm")
def bmm(self: Any, mat2: Any) -> Work | None:
    """Products of matrices, batch by batch."""
    return _product("BatchMatMul", rule_of("bmm")(self, mat2), self, mat2)


@steps("aten::matmul")
def matmul(self: Any, other: Any) -> Work | None:
    """Product of tensors of any ranks."""
    spec = rule_of("matmul")(self, other)
    if max(len(self.raw_shape), len(other.raw_shape)) > 6:
        return None
    return _product("Matmul", spec, self, other)


@steps("aten::addmm")
def addmm(self: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Work | None:
    """``beta * self + alpha * (mat1 @ mat2)``."""
    spec = rule_of("addmm")(self, mat1, mat2, beta=beta, alpha=alpha)
    if beta == 0 or not mat1.raw_shape[-1]:  # what is not added may hold NaN
        return None
    return _added("Addmm", spec, self, mat1, mat2, beta, alpha)


def _added(
    operator: str, spec: Any, self: Tensor, a: Tensor, b: Tensor, beta: Any, alpha: Any
) -> Work | None:
    d: dtype = spec.dtype
    if any(t.raw_dtype is not d for t in (self, a, b)) or not takes(operator, d):
        return None
    out = made(spec, a.raw_device)
    if not numel(spec.shape):
        return out, []
    factors = number(beta, d), number(alpha, d)
    return out, [(operator, (self, a, b, *factors, out, precision()))]


@steps("aten::linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Work | None:
    """``input @ weight.T + bias``."""
    spec = rule_of("linear")(input, weight, bias)
    if len(weight.raw_shape) != 2 or not input.raw_shape:
        return None
    if bias is None:
        return _product("Matmul", spec, input, transposed(weight))
    d, inner = spec.dtype, input.raw_shape[-1]
    if len(bias.raw_shape) != 1 or bias.raw_dtype is not d or not inner:
        return None
    if len(input.raw_shape) == 2:
        return _added("Addmm", spec, bias, input, transposed(weight), 1, 1)
    rows = numel(input.raw_shape[:-1])
    if flat(input) and rows and weight.raw_dtype is input.raw_dtype is d:
        if not takes("Addmm", d):
            return None
        out = made(spec, input.raw_device)
        folded = reshaped(input, (rows, inner)), reshaped(out, (rows, spec.shape[-1]))
        arguments = (bias, folded[0], transposed(weight), 1, 1, folded[1], precision())
        return out, [("Addmm", arguments)]
    work = _product("Matmul", spec, input, transposed(weight))
    if work is None or not numel(spec.shape):
        return work
    out, calls = work
    return out, [*calls, ("InplaceAdd", (out, bias, 1))]
