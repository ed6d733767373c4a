"""Copies, fills, conversions, and tensors joined."""

from __future__ import annotations

from typing import Any

from mindtorch_core.backend import COMPLEX, Tensor, TensorSpec, device, numel, wrap_dim

from ..creation import fill
from ..fallback import below
from .operands import cast, empty, expanded, flat, made, parts, takes
from .steps import MOST_DIMS, Call, Work, rule_of, steps, two_devices

__all__ = ["copied"]


def copied(target: Tensor, source: Tensor) -> list[Call]:
    """The calls that write a tensor into another one, broadcast and converted."""
    if not numel(target.raw_shape):
        return []
    if len(target.raw_shape) > MOST_DIMS:
        pairs = parts(target, expanded(source, target.raw_shape))
        return [call for pair in pairs for call in copied(*pair)]
    if source.raw_dtype.category == COMPLEX and target.raw_dtype.category != COMPLEX:
        real = source.raw_dtype.to_real()
        if target.raw_dtype is not real:
            half = empty(source.raw_shape, real, source.raw_device)
            return [("InplaceCopy", (half, source)), ("InplaceCopy", (target, half))]
    return [("InplaceCopy", (target, source))]


@steps("aten::copy_")
def copy_(self: Any, src: Any, non_blocking: bool = False) -> Work:
    """Write a tensor's elements; the source may be on another device."""
    if src.raw_shape != self.raw_shape:
        rule_of("copy")(self, src)
    if src.raw_device is not self.raw_device:
        if src.raw_dtype.itemsize > self.raw_dtype.itemsize:  # fewer bytes travel
            src = below(src.to, self.raw_dtype)
        src = below(src.to, self.raw_device)
    return self, copied(self, src)


@steps("aten::clone")
def clone(self: Any, *, memory_format: Any = None) -> Work:
    """A copy; its order of dimensions is kept unless a format names another."""
    out = made(rule_of("clone")(self, memory_format=memory_format), self.raw_device)
    return out, copied(out, self)


@steps("aten::_to_dtype")
def to_dtype(self: Any, dtype: Any) -> Work:
    """A copy in another dtype."""
    out = made(rule_of("_to_dtype")(self, dtype), self.raw_device)
    plain = flat(self) and flat(out) and numel(self.raw_shape) and len(self.raw_shape) <= MOST_DIMS
    if plain and self.raw_dtype.category != COMPLEX and takes("Cast", self.raw_dtype):
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
        parts = [cast(t, d, calls) for t in tensors if numel(t.raw_shape)]
        if len(parts) == 1:
            return out, [*calls, *copied(out, parts[0])]
        calls.append(("Cat", (parts, wrap_dim(dim, len(spec.shape)), out)))
    return out, calls


def _shared_device(tensors: Any) -> device:
    """The one device of a list of tensors.

    Raises:
        RuntimeError: if there are several.
    """
    on: device = tensors[0].raw_device
    for t in tensors:
        if t.raw_device is not on:
            raise two_devices("aten::cat", on, t.raw_device)
    return on
