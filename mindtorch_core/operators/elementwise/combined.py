"""Three operands at once: products and quotients that are added, points between two."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...opdefs import rules
from ...opdefs.define import op
from ...opdefs.formulas import conj
from ...tensors.tensor import Tensor
from ...values.dtypes import BOOL, FLOATING, INTEGER, checked_number
from ...values.promotion import category_of, result_type
from .composed import in_wide


def _factor(name: str, value: Any, d: Any) -> Any:
    """A factor as it is used in ``d``: beside integers without its fraction, as C casts it.

    Raises:
        NotImplementedError: of booleans, which nobody adds products of.
        RuntimeError: if it does not fit.
    """
    if d.category == BOOL:
        raise NotImplementedError(f"\"{name}\" not implemented for '{d.label}'")
    if hasattr(value, "_keys"):
        value = value.item()
    if d.category == INTEGER:
        return checked_number(value, d)
    if category_of(value) > d.category:
        raise RuntimeError(
            f"value cannot be converted to type {d.name} without overflow: {name} of {d.name} "
            f"tensors takes a float, got {value!r}"
        )
    return value


def _sum_rule(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Any:
    d = result_type(self, tensor1, tensor2)
    _factor("addcmul", value, d)
    return rules.pointwise_spec((self, tensor1, tensor2), d)


def _quotient_rule(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Any:
    if tensor1._dtype.category < FLOATING and tensor2._dtype.category < FLOATING:
        raise RuntimeError(
            "addcdiv does not divide integers by integers: use self + value * torch.trunc(tensor1 / "
            "tensor2) or self + value * (tensor1 / tensor2) instead"
        )
    d = result_type(self, tensor1, tensor2)
    _factor("addcdiv", value, d)
    return rules.pointwise_spec((self, tensor1, tensor2), d)


def _addcmul(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    d = _sum_rule(self, tensor1, tensor2, value=value).dtype
    value = _factor("addcmul", value, d)
    x, a, b = (in_wide(t, d) for t in (self, tensor1, tensor2))
    return (x + (a if value == 1 else a * value) * b).to(d)


def _addcdiv(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    d = _quotient_rule(self, tensor1, tensor2, value=value).dtype
    value = _factor("addcdiv", value, d)
    x, a, b = (in_wide(t, d) for t in (self, tensor1, tensor2))
    return (x + (a if value == 1 else a * value) / b).to(d)


_SCHEMA = "(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor"
op(
    f"addcmul{_SCHEMA}",
    doc="``input + value * tensor1 * tensor2``.",
    rule=_sum_rule,
    grad={
        "self": lambda g: g,
        "tensor1": lambda g, tensor2, value: g * conj(tensor2 * value),
        "tensor2": lambda g, tensor1, value: g * conj(tensor1 * value),
    },
    decomposition=_addcmul,
    broadcasts=True,
    older_form=True,
    inplace=True,
    out=True,
    tags=frozenset({"pointwise"}),
)
op(
    f"addcdiv{_SCHEMA}",
    doc="``input + value * tensor1 / tensor2``.",
    rule=_quotient_rule,
    grad={
        "self": lambda g: g,
        "tensor1": lambda g, tensor2, value: g * conj(value / tensor2),
        "tensor2": lambda g, tensor1, tensor2, value: (
            -g * conj(tensor1 * value / (tensor2 * tensor2))
        ),
    },
    decomposition=_addcdiv,
    broadcasts=True,
    older_form=True,
    inplace=True,
    out=True,
    tags=frozenset({"pointwise"}),
)


def _lerp_rule(self: Tensor, end: Tensor, weight: Any) -> Any:
    for name, t in (("end", end), ("weight", weight)):
        if hasattr(t, "_keys") and t._dtype is not self._dtype:
            raise RuntimeError(
                f"expected dtype {self._dtype.name} for `{name}` but got dtype {t._dtype.name}"
            )
    if self._dtype.category < FLOATING:
        raise NotImplementedError(f"\"lerp\" not implemented for '{self._dtype.label}'")
    return rules.pointwise_spec((self, end, weight), self._dtype)


def _lerp(self: Any, end: Any, weight: Any) -> Any:
    """Computed from the nearer end, so that a weight of 1 gives ``end`` exactly."""
    d = _lerp_rule(self, end, weight).dtype
    x, y, w = (in_wide(t, d) for t in (self, end, weight))
    step = y - x
    if not hasattr(w, "_keys"):
        found = x + step * w if abs(w) < 0.5 else y - step * (1 - w)
    else:
        found = fn.where(w.abs() < 0.5, x + w * step, y - step * (1 - w))
    return found.to(d)


for _overload, _type in (("Scalar", "Scalar"), ("Tensor", "Tensor")):
    op(
        f"lerp.{_overload}(Tensor self, Tensor end, {_type} weight) -> Tensor",
        doc="The point between ``input`` and ``end`` at the share ``weight`` of the way.",
        rule=_lerp_rule,
        grad={
            "self": lambda g, weight: g * conj(1 - weight),
            "end": lambda g, weight: g * conj(weight),
        }
        | ({"weight": lambda g, self, end: g * conj(end - self)} if _type == "Tensor" else {}),
        node_names=(f"LerpBackward{int(_type == 'Tensor')}",),
        decomposition=_lerp,
        broadcasts=True,
        inplace=True,
        out=True,
        tags=frozenset({"pointwise"}),
    )
