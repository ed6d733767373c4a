"""How a graph writes a call that a mode was told of: as an operator, a method or a function."""

from __future__ import annotations

import dis
import functools
import operator
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final

from ..deferred.frames import CORE
from .fx.proxy import is_method

__all__ = ["called_as"]

# What operators of the language call, and the operators.
_OPERATORS: Final[dict[str, Callable[..., Any]]] = {
    "__getitem__": operator.getitem, "__setitem__": operator.setitem, "add": operator.add,
    "add_": operator.iadd, "bitwise_and": operator.and_, "bitwise_and_": operator.iand,
    "bitwise_left_shift": operator.lshift, "bitwise_not": operator.invert, "bitwise_or": operator.or_,
    "bitwise_or_": operator.ior, "bitwise_right_shift": operator.rshift, "bitwise_xor": operator.xor,
    "bitwise_xor_": operator.ixor, "div": operator.truediv, "div_": operator.itruediv,
    "eq": operator.eq, "floor_divide": operator.floordiv, "floor_divide_": operator.ifloordiv,
    "ge": operator.ge, "gt": operator.gt, "le": operator.le, "lt": operator.lt,
    "matmul": operator.matmul, "mul": operator.mul, "mul_": operator.imul, "ne": operator.ne,
    "neg": operator.neg, "pow": operator.pow, "pow_": operator.ipow, "remainder": operator.mod,
    "sub": operator.sub, "sub_": operator.isub, "true_divide": operator.truediv,
}  # fmt: skip
_REFLECTED: Final[dict[str, Callable[..., Any]]] = {
    "__radd__": operator.add, "__rand__": operator.and_, "__rdiv__": operator.truediv,
    "__rfloordiv__": operator.floordiv, "__rlshift__": operator.lshift, "__rmatmul__": operator.matmul,
    "__rmod__": operator.mod, "__rmul__": operator.mul, "__ror__": operator.or_,
    "__rpow__": operator.pow, "__rrshift__": operator.rshift, "__rsub__": operator.sub,
    "__rtruediv__": operator.truediv, "__rxor__": operator.xor,
}  # fmt: skip
_BY_INSTRUCTION: Final = ("BINARY_", "COMPARE_", "UNARY_", "STORE_SUBSCR")


def called_as(
    func: Any, name: str, args: tuple[Any, ...]
) -> tuple[str, str | Callable[..., Any], tuple[Any, ...]]:
    """The kind of node for a call, its target, and the arguments in the order in which that takes them.

    Args:
        func: what a mode was told is called.
        name: of it; of an attribute, where that is read.
        args: positional arguments.
    """
    if func.__name__ == "__get__":
        return "call_function", getattr, (args[0], name)
    if name in _REFLECTED:
        return "call_function", _REFLECTED[name], (args[1], args[0], *args[2:])
    if not is_method(func):
        return "call_function", func, args
    if name in _OPERATORS and (name[0] == "_" or _stands_at_operator()):
        return "call_function", _OPERATORS[name], args
    return "call_method", name, args


def _stands_at_operator() -> bool:
    """Whether the code that has called into this package is at an operator of the language."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and CORE[frame.f_globals.get("__name__")]:
        frame = frame.f_back
    return frame is not None and frame.f_lasti in _operators_in(frame.f_code)


@functools.lru_cache(maxsize=256)
def _operators_in(code: CodeType) -> frozenset[int]:
    """Where in code there are operators."""
    found = (s for s in dis.get_instructions(code) if s.opname.startswith(_BY_INSTRUCTION))
    return frozenset(s.offset for s in found)
