"""Defining element-wise ops that are made of other ops.

Formulas are written for operands of one dtype, float32 or wider: integers are converted to the
default floating type before, half precision to float32, and the result is rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...dispatch.keys import BACKENDS
from ...dispatch.registry import qualified, registry
from ...opdefs import rules
from ...opdefs.define import op
from ...opdefs.packets import front
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING, bool_, cast_number, dtype
from ...values.promotion import WIDER, result_type, to_floating

__all__ = [
    "alias",
    "by_name",
    "composition",
    "function",
    "fused_backward",
    "has_kernel",
    "in_wide",
    "refused",
    "truth_of",
    "two",
    "widened",
]

Formula = Callable[..., Any]

_POINTWISE: Final = frozenset({"pointwise"})


def refused(name: str, d: dtype) -> NotImplementedError:
    """The error of an op that does not serve a dtype."""
    return NotImplementedError(f"\"{name}\" not implemented for '{d.label}'")


def in_wide(value: Any, d: dtype) -> Any:
    """An operand in the dtype that formulas compute in for results of dtype ``d``."""
    if not hasattr(value, "_keys"):
        return value
    wide = WIDER.get(d, d)
    return value if value._dtype is wide else value.to(wide)


def widened(self: Tensor) -> Tensor:
    """The tensor in float32 if it is of half precision."""
    wide = WIDER.get(self._dtype)
    return self if wide is None else self.to(wide)


def by_name(name: str) -> Callable[..., Any]:
    """The function of an op that is shown in another namespace than ``torch``, or in none."""
    return front(registry.entry(qualified(name)))  # such names are found at once


def has_kernel(name: str, t: Tensor) -> bool:
    """Whether the tensor's backend has a kernel of its own for an op."""
    backends = t._keys & BACKENDS
    for key in registry.entry(f"aten::{name}").kernels:  # noqa: SIM110 (any() would double its cost)
        if key & backends:
            return True
    return False


def fused_backward(name: str, g: Tensor) -> Callable[..., Any] | None:
    """The function of a gradient's op where the tensor's backend has a kernel of its own for it."""
    return by_name(name) if has_kernel(name, g) else None


def composition(rule: Callable[..., Any], formula: Formula, operands: int) -> Formula:
    """A decomposition that checks dtypes by the op's rule and computes in float32 or wider.

    Args:
        rule: the op's.
        formula: takes the same arguments, its operands already converted.
        operands: how many leading arguments decide the dtype.
    """

    def composed(*args: Any, **kwargs: Any) -> Any:
        d = rule(*args, **kwargs).dtype
        common = result_type(*args[:operands])
        if common.category < FLOATING <= d.category:
            common = d
        values = [
            cast_number(a, common) if isinstance(a, int | float | complex) else in_wide(a, common)
            for a in args[:operands]
        ]
        result = formula(*values, *args[operands:], **kwargs)
        return result if result._dtype is d else result.to(d)

    return composed


def function(
    name: str,
    doc: str,
    grad: Any,
    formula: Formula | None = None,
    *,
    kinds: str = "bif",
    result: Callable[[dtype], dtype] | dtype = to_floating,
    signature: str = "Tensor self",
    **more: Any,
) -> None:
    """Define a function of one tensor, ``name(self, ...)``.

    Args:
        name: the op.
        doc: what it computes.
        grad: formula for ``self``, formulas by argument, or None if the parts supply it.
        formula: the op in terms of others; None for an op that is left to a numerical library.
        kinds: as in `Operands.kinds`.
        result: dtype of the result, or what gives it from the input's.
        signature: arguments as the schema has them.
        **more: further fields of `OpDef`.
    """
    first = signature.partition(",")[0].rpartition(" ")[2]
    rule = more.pop("rule", None) or rules.pointwise(result, count=1)
    rule = rules.limited(rule, name, kinds, operands=1)
    properties: dict[str, Any] = {
        "doc": doc,
        "rule": rule,
        "kinds": kinds,
        "grad": {first: grad} if callable(grad) else grad,
        "decomposition": formula and composition(rule, formula, 1),
        "host": formula is None,
        "inplace": True,
        "out": True,
        "tags": _POINTWISE,
    } | more
    op(f"{name}({signature}) -> Tensor", **properties)


def two(
    name: str,
    doc: str,
    grad: Any,
    formula: Formula | None = None,
    *,
    kinds: str = "bif",
    result: Callable[[dtype], dtype] | dtype | None = to_floating,
    signature: str = "Tensor self, Tensor other",
    **more: Any,
) -> None:
    """Define a function of two tensors that are broadcast and promoted; see `function`.

    ``result=None`` keeps the operands' common dtype.
    """
    rule = more.pop("rule", None) or rules.pointwise(result, count=2)
    rule = rules.limited(rule, name, kinds)
    properties: dict[str, Any] = {
        "doc": doc,
        "rule": rule,
        "kinds": kinds,
        "grad": grad,
        "decomposition": formula and composition(rule, formula, 2),
        "host": formula is None,
        "promotes": True,
        "compute_dtype": rules.floating if result is to_floating else result_type,
        "broadcasts": True,
        "inplace": True,
        "out": True,
        "tags": _POINTWISE,
    } | more
    op(f"{name}({signature}) -> Tensor", **properties)


def alias(
    name: str, of: str, signature: str = "Tensor self", kinds: str = "bifc", **more: Any
) -> None:
    """Define another name of an op.

    Args:
        name: the other name.
        of: the method of `Tensor` that it means.
        signature: arguments, the first of which is a tensor.
        kinds: as in `Operands.kinds`.
        **more: further fields of `OpDef`.
    """
    properties: dict[str, Any] = {
        "doc": f"Alias of `{of}`.",
        "kinds": kinds,
        "decomposition": lambda self, *args, **kwargs: getattr(self, of)(*args, **kwargs),
        "inplace": True,
        "out": True,
    } | more
    if properties["out"]:
        properties["out_like"] = of
    if properties["inplace"]:
        properties["inplace_decomposition"] = lambda self, *args, **kwargs: getattr(self, f"{of}_")(
            *args, **kwargs
        )
    op(f"{name}({signature}) -> Tensor", **properties)


def truth_of(formula: Callable[..., Any], kinds: str, name: str) -> Formula:
    """A decomposition with a boolean result: False for integers, which need no look at values."""

    def composed(self: Tensor) -> Any:
        if "bifc"[self._dtype.category] not in kinds:
            raise refused(name, self._dtype)
        if self._dtype.category < FLOATING:
            return self.new_zeros(self._shape, dtype=bool_)
        return formula(self)

    return composed
