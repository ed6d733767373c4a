"""What ops that are not element-wise compute of arrays: products of matrices, sums of few elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_core.backend import FLOATING, Instruction, Program, Ref, Value, numel

from ..arrays import NUMPY_OF, WIDER
from ..blas import TINY
from ..fusion.classify import is_own_kernel
from ..large import LARGE
from ..ops.linalg import dot_of_matrices
from ..ops.reduction import axes
from ..short_rows import FEW_IN_ROWS
from ..summation import FEW
from .formulas import is_row_major

__all__ = ["Function", "function_of"]

_add_up: Any = np.add.reduce


class Function(NamedTuple):
    """What an instruction computes of arrays.

    Attributes:
        function: of arrays; gives a new one in row-major order.
        operands: its arguments.
    """

    function: Callable[..., Any]
    operands: tuple[Ref, ...]


def function_of(program: Program, instruction: Instruction) -> Function | None:
    """What an instruction computes, where its kernel does nothing else for its operands; or None."""
    make = _MAKERS.get(instruction.op.name)
    if make is None or not is_own_kernel(instruction.op):
        return None
    operands = tuple(a for a in instruction.args if isinstance(a, Ref))
    values = [program.values[n] for n in operands]
    (out,) = instruction.outs
    assert out is not None
    result = program.values[out]
    d = result.dtype
    if d.category < FLOATING or d not in NUMPY_OF or d in WIDER or not is_row_major(result):
        return None
    if any(v.dtype is not d for v in values):
        return None
    function = make(instruction, *values)
    return None if function is None else Function(function, operands)


def _product(instruction: Instruction, a: Value, b: Value) -> Callable[..., Any] | None:
    """Of two matrices, or of one and a vector."""
    if len(a.shape) == len(b.shape) == 2:
        (rows, inner), columns = a.shape, b.shape[1]
        few = rows * inner * columns <= TINY and inner > 1 and rows * columns < LARGE
        return np.ndarray.dot if few else dot_of_matrices
    few = math.prod((*a.shape, *b.shape[1:])) <= TINY
    if few and len(a.shape) + len(b.shape) == 3 and _for_blas(a) and _for_blas(b):
        # ``dot`` takes a third of the time; with a single number it has BLAS scale the other one.
        return np.ndarray.dot if a.shape[-1] > 1 else np.matmul
    return None


def _for_blas(value: Value) -> bool:
    """Whether BLAS reads a vector or matrix as it lies."""
    shape, strides = value.shape, value.strides
    return len(shape) < 2 or is_row_major(value) or strides == (1, shape[0])


def _linear(instruction: Instruction, *values: Value) -> Callable[..., Any] | None:
    """Of matrices, with a bias."""
    a, w = values[:2]
    plain = len(a.shape) == len(w.shape) == 2 and len(values) == 3
    return _affine if plain and a.shape[0] * w.shape[0] < LARGE else None


def _affine(a: Any, w: Any, bias: Any) -> Any:
    out = dot_of_matrices(a, w.T)
    return np.add(out, bias, out)


def _sum(instruction: Instruction, a: Value) -> Callable[..., Any] | None:
    """Of so few elements that NumPy adds them up in order, or down so few rows."""
    _, dim, keepdim = (*instruction.args, None, False)[:3]
    if not is_row_major(a):
        return None
    axis = axes(dim, len(a.shape))
    if numel(a.shape) > min(FEW, FEW_IN_ROWS - 1):
        down = axis is not None and sorted(axis) == [*range(len(axis))]
        if not down or math.prod(a.shape[: len(axis)]) > FEW or numel(a.shape) >= LARGE:
            return None
    if axis is None and not (keepdim and a.shape):
        return partial(_add_all, NUMPY_OF[a.dtype])
    return partial(_add_up, axis=axis, keepdims=keepdim)


def _add_all(d: Any, a: Any) -> Any:
    """The sum of all elements as an array: NumPy gives a number where it is given none."""
    return _add_up(a, None, None, np.empty((), d))


_MAKERS: Final[dict[str, Callable[..., Callable[..., Any] | None]]] = {
    "aten::linear": _linear,
    "aten::matmul": _product,
    "aten::mm": _product,
    "aten::sum": _sum,
}
