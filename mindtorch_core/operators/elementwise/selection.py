"""Element-wise choices: where, clamp, masked_fill."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...gradients.conform import sum_to
from ...opdefs import rules
from ...opdefs.define import EVERYWHERE, op, public
from ...tensors.tensor import Tensor
from ...values.dtypes import BOOL, COMPLEX, checked_number, uint8
from ...values.promotion import result_type
from ...values.shapes import broadcast
from ...values.user_warnings import warn_user_once


def _where_rule(condition: Tensor, self: Any, other: Any) -> Any:
    if condition._dtype.category != BOOL:
        if condition._dtype is not uint8:
            raise RuntimeError(
                f"where expected condition to be a boolean tensor, but got a tensor with dtype "
                f"{condition._dtype.label}"
            )
        warn_user_once(
            "where received a uint8 condition tensor. This behavior is deprecated and will be removed in "
            "a future version of PyTorch. Use a boolean condition instead."
        )
    return rules.pointwise_spec((condition, self, other), result_type(self, other))


op(
    "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
    doc="``input`` where the condition holds, ``other`` elsewhere.",
    rule=_where_rule,
    grad={
        "self": lambda g, condition: fn.where(condition, g, 0),
        "other": lambda g, condition: fn.where(condition, 0, g),
    },
    primitive=True,
    numbers=True,
    promotes=True,
    first_operand=1,
    broadcasts=True,
    out=True,
    out_needs=("dtype",),
    namespaces=("torch",),
    tags=frozenset({"pointwise"}),
)
op(
    "where(Tensor condition) -> Tensor[]",
    doc="Indices of true elements, a tensor per dimension.",
    decomposition=lambda condition: fn.nonzero(condition, as_tuple=True),
    namespaces=("torch",),
)


@public("Tensor", name="where")
def where_method(self: Tensor, condition: Tensor, other: Tensor | float | complex) -> Tensor:
    """This tensor where the condition holds, ``other`` elsewhere."""
    return fn.where(condition, self, other)


def _clamp_rule(self: Tensor, min: Any = None, max: Any = None) -> Any:
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    operands = tuple(x for x in (self, min, max) if x is not None)
    d = result_type(*operands)
    one_tensor = len(operands) == 2 and hasattr(operands[1], "_keys")
    if d.category == COMPLEX or (d.category == BOOL and not one_tensor):
        raise NotImplementedError(f"\"clamp\" not implemented for '{d.label}'")
    for bound in operands[1:]:
        if not isinstance(bound, Tensor):
            checked_number(bound, d)
    return rules.pointwise_spec(operands, d)


def _clamp_grad(g: Any, self: Any, min: Any, max: Any) -> Any:
    inside: Any = None
    if min is not None:
        inside = self >= min
    if max is not None:
        inside = (self <= max) if inside is None else inside & (self <= max)
    return fn.where(inside, g, 0)


def _clamped(self: Any, min: Any = None, max: Any = None) -> Any:
    _clamp_rule(self, min, max)
    if min is not None:
        self = fn.maximum(self, min)
    return self if max is None else fn.minimum(self, max)


op(
    "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    doc="Limit elements to the range between those of ``min`` and ``max``.",
    rule=_clamp_rule,
    grad={
        "self": _clamp_grad,
        "min": lambda g, self, min, max: fn.where(
            self < min if max is None else (self < min) & (min < max), g, 0
        ),
        "max": lambda g, self, min, max: fn.where(
            self > max if min is None else (self > max) | (max < min), g, 0
        ),
    },
    decomposition=_clamped,
    broadcasts=True,
    inplace=True,
    out=True,
    tags=frozenset({"pointwise"}),
    inplace_namespaces=EVERYWHERE,
)


def _clamped_by_numbers(self: Any, min: Any = None, max: Any = None) -> Any:
    _clamp_rule(self, min, max)
    bounds = [
        x if x is None else self.new_full((), x, dtype=result_type(self, x)) for x in (min, max)
    ]
    return _clamped(self, *bounds)


op(
    "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
    doc="Limit elements to the range from ``min`` to ``max``; None leaves a side open.",
    rule=_clamp_rule,
    grad={"self": _clamp_grad},
    decomposition=_clamped_by_numbers,
    node_names=("ClampBackward1",),
    inplace=True,
    out=True,
    tags=frozenset({"pointwise"}),
    inplace_namespaces=EVERYWHERE,
)
op(
    "clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    doc="Alias of `clamp`.",
    decomposition=lambda self, min=None, max=None: self.clamp(min, max),
    inplace=True,
    tags=frozenset({"pointwise"}),
    inplace_namespaces=EVERYWHERE,
)
op(
    "clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
    doc="Alias of `clamp`.",
    decomposition=lambda self, min=None, max=None: self.clamp(min, max),
    inplace=True,
    tags=frozenset({"pointwise"}),
    inplace_namespaces=EVERYWHERE,
)
for _side in ("min", "max"):
    for _dot, _type in ((".Tensor", "Tensor"), ("", "Scalar")):
        op(
            f"clamp_{_side}{_dot}(Tensor self, {_type} {_side}) -> Tensor",
            doc=f"`clamp` with ``{_side}`` only.",
            decomposition=lambda self, bound, _side=_side: self.clamp(**{_side: bound}),
            inplace=True,
            out=True,
            tags=frozenset({"pointwise"}),
            inplace_namespaces=EVERYWHERE,
        )
op(
    "masked_fill(Tensor self, Tensor mask, Tensor value) -> Tensor",
    overloads=("Tensor", "Scalar"),
    doc="``input`` with ``value`` where the boolean mask holds.",
    rule=lambda self, mask, value: _masked_fill_rule(self, mask, value),
    grad={
        "self": lambda g, self_shape, mask: sum_to(g.masked_fill(mask, 0), self_shape),
        "value": lambda g, mask: fn.where(mask, g, 0).sum(),
    },
    fills=True,
    tags=frozenset({"pointwise"}),
    decomposition=lambda self, mask, value: _masked_fill(self, mask, value),
    numbers=True,
    inplace=True,
    inplace_namespaces=("Tensor",),
)


def _masked_fill_rule(self: Tensor, mask: Tensor, value: Any) -> TensorSpec:
    if not hasattr(mask, "_keys"):
        raise TypeError(f"masked_fill(): argument 'mask' must be Tensor, not {type(mask).__name__}")
    rules.refuse_other_masks(mask)
    if not hasattr(value, "_keys"):
        checked_number(value, self._dtype)
    elif value._shape:
        raise RuntimeError(
            f"masked_fill only supports a 0-dimensional value tensor, but got tensor with "
            f"{len(value._shape)} dimension(s)."
        )
    elif value._dtype.category == COMPLEX and self._dtype.category != COMPLEX:
        raise RuntimeError(
            f"value cannot be converted to type {self._dtype.name} without overflow: it is complex"
        )
    return TensorSpec(broadcast(self._shape, mask._shape), self._dtype)


def _masked_fill(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    _masked_fill_rule(self, mask, value)
    given = hasattr(value, "_keys")
    value = value.to(self._dtype) if given else checked_number(value, self._dtype)
    result: Tensor = fn.where(mask, value, self)
    return result.contiguous()  # whatever the operands' layouts, as PyTorch's
