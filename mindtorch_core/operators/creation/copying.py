"""Copies and fills."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...gradients.conform import conform
from ...opdefs import rules
from ...opdefs.define import EVERYWHERE, op
from ...tensors.tensor import Tensor
from ...values.devices import concrete, device, row_of
from ...values.dtypes import (
    COMPLEX,
    checked_number,
    dtype,
)
from ...values.memory_formats import like_strides
from ...values.shapes import broadcast, is_contiguous, numel, show

op(
    "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
    doc="A copy in memory of its own, in its order of dimensions or in a memory format.",
    rule=lambda self, *, memory_format=None: rules.like(self, memory_format=memory_format),
    grad={"self": lambda g: g},
    decomposition=lambda self, *, memory_format=None: fn.empty_like(
        self, memory_format=memory_format
    ).copy_(self),
    tags=frozenset({"pointwise"}),
)


def _copy_rule(self: Tensor, src: Tensor, non_blocking: bool = False) -> TensorSpec:
    shape = broadcast(self._shape, src._shape)
    if shape != self._shape:
        raise RuntimeError(
            f"output with shape {show(self._shape)} doesn't match the broadcast shape {show(shape)}: "
            f"the source of a copy must broadcast to its destination"
        )
    return rules.same(self)


op(
    "copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
    doc="The source, broadcast and converted to the shape, dtype and device of ``input``.",
    rule=_copy_rule,
    grad={
        "self": lambda g: fn.zeros_like(g),
        "src": lambda g, src_shape, src_dtype, src_device: conform(g, src_shape, src_dtype).to(
            src_device
        ),
    },
    node_names=("CopyBackwards",),
    decomposition=lambda self, src, non_blocking=False: fn.empty_like(self).copy_(src),
    copies=True,
    number_source=True,
    crosses_devices=True,
    inplace=True,
    inplace_primitive=True,
    namespaces=(),
)


def _fill_rule(self: Tensor, value: Any) -> TensorSpec:
    if not isinstance(value, Tensor):
        checked_number(value, self._dtype)
    return rules.same(self)


op(
    "fill.Scalar(Tensor self, Scalar value) -> Tensor",
    doc="One number everywhere.",
    rule=_fill_rule,
    grad={"self": lambda g: fn.zeros_like(g)},
    decomposition=lambda self, value: fn.empty_like(self).fill_(value),
    fills=True,
    inplace=True,
    inplace_primitive=True,
    namespaces=("torch",),
    inplace_namespaces=EVERYWHERE,
)
op(
    "fill.Tensor(Tensor self, Tensor value) -> Tensor",
    doc="The value of a zero-dimensional tensor everywhere.",
    decomposition=lambda self, value: _fill_tensor(fn.empty_like(self), value),
    namespaces=("torch",),
)
op(
    "fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)",
    doc="The value of a zero-dimensional tensor everywhere.",
    decomposition=lambda self, value: _fill_tensor(self, value),
    fills=True,
    namespaces=EVERYWHERE,
)


def _fill_tensor(self: Tensor, value: Tensor) -> Any:
    if value._shape:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with "
            f"{len(value._shape)} dimensions."
        )
    own = value._storage is not None and value._storage is self._storage
    return self.copy_(value.clone() if own else value)  # an element of its own may fill a tensor


op(
    "zero(Tensor self) -> Tensor",
    doc="Zeros.",
    rule=rules.same,
    grad={"self": lambda g: fn.zeros_like(g)},
    decomposition=lambda self: fn.zeros_like(self),
    fills=True,
    inplace=True,
    inplace_decomposition=lambda self: self.fill_(0),
    namespaces=(),
    inplace_namespaces=("torch", "Tensor"),
)

# ---- conversions --------------------------------------------------------------------------------


op(
    "_to_dtype(Tensor self, ScalarType dtype) -> Tensor",
    doc="A copy in another dtype.",
    rule=lambda self, dtype: rules.like(self, dtype),
    grad={"self": lambda g, self_dtype: _converted_back(g, self_dtype, g._device)},
    node_names=("ToCopyBackward0",),
    decomposition=lambda self, dtype: fn.empty_like(self, dtype=dtype).copy_(self),
    namespaces=("torch",),
    tags=frozenset({"pointwise"}),
)


def _to_device(self: Tensor, device: device) -> Tensor:
    """Copy between devices through host memory; dense dimensions keep their order there."""
    target = concrete(device)
    from_host = row_of(target.type).runtime.from_host
    shape, strides = self._shape, self._geometry()[0]
    if is_contiguous(shape, strides) or not numel(shape):
        return from_host(self._host(), shape, self._dtype, target)
    kept = like_strides(shape, strides)
    packed = self.permute(sorted(range(len(shape)), key=lambda dim: -kept[dim]))
    return from_host(packed._host(), shape, self._dtype, target, strides=kept)


op(
    "_to_device(Tensor self, Device device) -> Tensor",
    doc="A copy on another device.",
    grad={"self": lambda g, self_device: _converted_back(g, g._dtype, self_device)},
    decomposition=_to_device,
    moves=True,
    namespaces=("torch",),
)


def _converted_back(g: Tensor, d: dtype, on: device) -> Any:
    if g._dtype.category == COMPLEX and d.category != COMPLEX:
        g = g.real
    # The device is no place where a pipeline is to be looked at: gradients are there already, mostly.
    return g.to(d) if on is g._device else g.to(on, d)
