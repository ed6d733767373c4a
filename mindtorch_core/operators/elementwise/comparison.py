"""Comparisons, logic on truth values and on bits, tests for NaN and infinities."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import NONDIFF
from ...opdefs import rules
from ...opdefs.operands import as_operand
from ...values.dtypes import INTEGER, bool_, dtype
from ...values.errors import OperandTypeError
from . import elementary
from .arithmetic import binary, unary


def comparison(name: str, sign: str, dunder: str, kinds: str = "bif", **more: Any) -> None:
    """Define one of the six comparisons."""
    binary(
        name,
        f"True where ``input {sign} other``.",
        NONDIFF,
        result=rules.truth,
        operators=(dunder,),
        kinds=kinds,
        **more,
    )


comparison("eq", "==", "__eq__", "bifc")
comparison("ne", "!=", "__ne__", "bifc", decomposition=lambda self, other: ~(self == other))
comparison("lt", "<", "__lt__")
comparison("le", "<=", "__le__")
comparison(
    "gt", ">", "__gt__", decomposition=lambda self, other: fn.lt(as_operand(self, other), self)
)
comparison(
    "ge", ">=", "__ge__", decomposition=lambda self, other: fn.le(as_operand(self, other), self)
)


def _on_truths(name: str) -> Any:
    return lambda self, other: getattr(fn, name)(self != 0, other != 0)


for _name, _doc in (("and", "both are"), ("or", "either is"), ("xor", "exactly one is")):
    binary(
        f"logical_{_name}",
        f"True where {_doc} non-zero.",
        NONDIFF,
        result=rules.truth,
        numbers=False,
        decomposition=_on_truths(f"bitwise_{_name}"),
    )
    binary(
        f"bitwise_{_name}",
        f"Bitwise {_name} of integers or booleans.",
        NONDIFF,
        kinds="bi",
        operators=(f"__{_name}__", f"__r{_name}__"),
        number_first="tensor",
    )
unary(
    "logical_not",
    "True where zero.",
    NONDIFF,
    rule=rules.pointwise(bool_),
    decomposition=elementary.logical_not,
    inplace_namespaces=("Tensor",),
)


def _whole(d: dtype) -> dtype:
    if d.category > INTEGER:
        raise OperandTypeError(
            f"~ (operator.invert) is only implemented on integer and Boolean-type tensors: "
            f"\"bitwise_not\" not implemented for '{d.label}'"
        )
    return d


unary(
    "bitwise_not",
    "Bitwise complement; logical not of booleans.",
    NONDIFF,
    rule=rules.pointwise(_whole),
    kinds="bi",
    operators=("__invert__",),
    decomposition=elementary.bitwise_not,
    inplace_namespaces=("Tensor",),
    out_needs=("dtype",),
)
for _name, _kind in (("isnan", "NaN"), ("isinf", "infinite"), ("isfinite", "finite")):
    unary(
        _name,
        f"True where {_kind}.",
        NONDIFF,
        rule=rules.pointwise(bool_),
        inplace=False,
        out=False,
        decomposition=getattr(elementary, _name),
    )
