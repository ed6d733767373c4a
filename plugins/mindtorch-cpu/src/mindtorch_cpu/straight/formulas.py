"""What element-wise instructions compute of arrays: NumPy's ufuncs, and a few of them together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_core.backend import (
    FLOATING,
    WIDER,
    Instruction,
    Number,
    Program,
    Ref,
    Value,
    contiguous_strides,
    float32,
    float64,
)

from ..arrays import CPU
from ..fusion.classify import is_own_kernel
from ..ops.ufuncs import UFUNCS
from ..powers import rsqrt
from ..zeros import ODD

__all__ = ["WITH_ZERO", "Formula", "formula_of", "is_row_major", "order_of"]

# What NumPy computes right where it makes the result's memory itself.
_OF_DENSE: Final[dict[str, Any]] = {"aten::neg": np.negative}
# What a ufunc computes with 0 as its first operand, where it takes the second of two zeros.
WITH_ZERO: Final[dict[str, Any]] = {} if ODD & {float32, float64} else {"aten::relu": np.maximum}


def _passed(grad: Any, a: Any, bound: Any) -> Any:
    """The gradient where an element is not at or below a bound."""
    return np.where(np.less_equal(a, bound), grad.dtype.type(0), grad)


# What is two calls of NumPy.
_SEVERAL: Final[dict[str, Any]] = {"aten::threshold_backward": _passed, "aten::rsqrt": rsqrt}
_BESIDES: Final = {**_OF_DENSE, **WITH_ZERO}
_SCALED: Final = frozenset({"aten::add", "aten::add_", "aten::sub", "aten::sub_"})


class Formula(NamedTuple):
    """What an instruction computes of arrays.

    Attributes:
        name: identifies it.
        compute: the same, of arrays and numbers.
        ufunc: that it is; None where it is several.
        operands: a `Ref` or a `Number` for each; a zero that it takes besides comes first and is none.
        calls: of NumPy that it takes.
        scaled: whether the last operand multiplies the one before.
    """

    name: str
    compute: Callable[..., Any]
    ufunc: Any
    operands: tuple[Any, ...]
    calls: int = 1
    scaled: bool = False


def formula_of(program: Program, instruction: Instruction) -> Formula | None:
    """What an instruction computes, where its kernel does nothing else for its operands; or None."""
    op, kwargs = instruction.op, instruction.kwargs
    ufunc, operands = UFUNCS.get(op.name) or _BESIDES.get(op.name), instruction.args
    if op.name in _SEVERAL:
        found = Formula(op.name, _SEVERAL[op.name], None, operands, 2)
    elif ufunc is None:
        return None
    elif not kwargs:
        if len(operands) + (op.name in WITH_ZERO) != ufunc.nin:
            return None
        found = Formula(ufunc.__name__, ufunc, ufunc, operands)
    elif op.name in _SCALED and [*kwargs] == ["alpha"] and isinstance(operands[1], Ref):
        factor = kwargs["alpha"]
        if not isinstance(factor, Number) or program.numbers[factor] is not float:
            return None
        name, operands = f"{ufunc.__name__} of a multiple", (*operands, factor)
        found = Formula(name, partial(_scaled, ufunc), ufunc, operands, 2, True)
    else:
        return None
    return found if is_own_kernel(op) and _fits(program, instruction, operands) else None


def _scaled(ufunc: Any, a: Any, b: Any, factor: Any) -> Any:
    return ufunc(a, np.multiply(b, factor))


def _fits(program: Program, instruction: Instruction, operands: tuple[Any, ...]) -> bool:
    """Whether result and operands are of one floating dtype and lie in order, one of them as a whole."""
    out, values = instruction.outs[0], program.values
    assert out is not None
    result = values[out]
    if result.dtype.category != FLOATING or result.dtype in WIDER or not result.shape:
        return False
    whole = False
    for operand in operands:
        if isinstance(operand, Ref):
            value = values[operand]
            if (
                value.device is not CPU
                or value.dtype is not result.dtype
                or not is_row_major(value)
            ):
                return False
            whole = whole or value.shape == result.shape
        elif not isinstance(operand, Number) or program.numbers[operand] not in (int, float):
            return False
    return whole and is_row_major(result)


def is_row_major(value: Value) -> bool:
    """Whether a tensor's elements lie one after the other, in order."""
    return value.strides == contiguous_strides(value.shape)


def order_of(source: Value, value: Value) -> tuple[int, ...] | None:
    """The order of a tensor's dimensions in which another shows the same elements; None if it does not."""
    given, wanted = (list(zip(v.shape, v.strides, strict=True)) for v in (source, value))
    if source.offset != value.offset or len({*given}) < len(given) or 1 in source.shape:
        return None
    return tuple(map(given.index, wanted)) if sorted(given) == sorted(wanted) else None
