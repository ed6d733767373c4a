"""Copies, fills, conversions, and tensors joined."""

from __future__ import annotations

from typing import Any

from mindtorch_core.devices import device
from mindtorch_core.dtypes import COMPLEX
from mindtorch_core.operators.define import TensorSpec
from mindtorch_core.shapes import numel, wrap_dim
from mindtorch_core.tensor import Tensor

from ..creation import fill
from ..fallback import below
from .operands import cast, empty, expanded, flat, made, parts, takes
from .steps import MOST_DIMS, Call, Work, rule_of, steps, two_devices

__all__ = ["copied"]


def copied(target: Tensor, source: Tensor) -> list[Call]:
    """The calls that write a tensor into another one, broadcast and converted."""
    if not numel(target._shape):
        return []
    if len(target._shape) > MOST_DIMS:
        pairs = parts(target, expanded(source, target._shape))
        return [call for pair in pairs for call in copied(*pair)]
    if source._dtype.category == COMPLEX and target._dtype.category != COMPLEX:
        real = source._dtype.to_real()
        if target._dtype is not real:
            half = empty(source._shape, real, source._device)
            return [("InplaceCopy", (half, source)), ("InplaceCopy", (target, half))]
    return [("InplaceCopy", (target, source))]


@steps("aten::copy_")
def copy_(self: Any, src: Any, non_blocking: bool = False) -> Work:
    """Write a tensor's elements; the source may be on another device."""
    if src._shape != self._shape:
        rule_of("copy")(self, src)
    if src._device is not self._device:
        if src._dtype.itemsize > self._dtype.itemsize:  # fewer bytes travel
            src = below(src.to, self._dtype)
        src = below(src.to, self._device)
    return self, copied(self, src)


@steps("aten::clone")
def clone(self: Any, *, memory_format: Any = None) -> Work:
    """A copy; its order of dimensions is kept unless a format names another."""
    out = made(rule_of("clone")(self, memory_format=memory_format), self._device)
    return out, copied(out, self)


@steps("aten::_to_dtype")
def to_dtype(self: Any, dtype: Any) -> Work:
    """A copy in another dtype."""
    out = made(rule_of("_to_dtype")(self, dtype), self._device)
    plain = flat(self) and flat(out) and numel(self._shape) and len(self._shape) <= MOST_DIMS
    if plain and self._dtype.category != COMPLEX and takes("Cast", self._dtype):
        return out, [("Cast", (self, dtype, out))]
    return out, copied(out, self)


@steps("aten::fill_.Scalar")
def fill_(self: Any, value: Any) -> Work:
    """Write one number everywhere."""
    if isinstance(value, Tensor):
        value = value.item()
    rule_of("fill.Scalar")(self, value)
    return self, fill(self, value)


@steps("aten::zero_")
def zero_(self: Any) -> Work:
    """Write zeros."""
    return self, fill(self, 0)


# ---- joining -------------------------------------------------------------------------------------


@steps("aten::cat")
def cat(tensors: Any, dim: int = 0) -> Work | None:
    """Tensors one after another."""
    spec: TensorSpec = rule_of("cat")(tensors, dim)
    d = spec.dtype
    on = _shared_device(tensors)
    if not takes("Cat", d, "tensors"):
        return None
    out, calls = made(spec, on), list[Call]()
    if numel(spec.shape):
        parts = [cast(t, d, calls) for t in tensors if numel(t._shape)]
        if len(parts) == 1:
            return out, [*calls, *copied(out, parts[0])]
        calls.append(("Cat", (parts, wrap_dim(dim, len(spec.shape)), out)))
    return out, calls


def _shared_device(tensors: Any) -> device:
    """The one device of a list of tensors.

    Raises:
        RuntimeError: if there are several.
    """
    on: device = tensors[0]._device
    for t in tensors:
        if t._device is not on:
            raise two_devices("aten::cat", on, t._device)
    return on
