"""Copies, fills and conversions."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...gradients.conform import conform
from ...opdefs import rules
from ...opdefs.define import EVERYWHERE, op
from ...tensors.attached import attach
from ...tensors.tensor import Tensor
from ...values.devices import concrete, device, row_of
from ...values.dtypes import (
    ALIASES,
    COMPLEX,
    DTYPES,
    FLOAT8,
    PYTHON_TYPES,
    as_dtype,
    checked_number,
    dtype,
)
from ...values.memory_formats import like_strides, memory_format, preserve_format, suggested
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
    decomposition=lambda self, src, non_blocking=False: fn.empty_like(self).copy_(src),
    copies=True,
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
    grad={"self": lambda g, self_device: g.to(self_device)},
    decomposition=_to_device,
    moves=True,
    namespaces=("torch",),
)


def _converted_back(g: Tensor, d: dtype, on: device) -> Any:
    if g._dtype.category == COMPLEX and d.category != COMPLEX:
        g = g.real
    return g.to(on, d)


def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor in another dtype or on another device; itself if nothing changes.

    Called as ``to(dtype)``, ``to(device, dtype=None)`` or ``to(other)``, each with
    ``non_blocking``, ``copy`` and ``memory_format``. Leaving a device waits for the work queued on
    the tensor; in a pipeline that goes through backward the copy is recorded like any other op.

    Raises:
        BackendUnavailableError: if no plugin serves the device.
        TypeError: if the arguments fit none of the forms.
    """
    flags = [a for a in args[1:] if isinstance(a, bool)]  # non_blocking, copy
    copy = kwargs.pop("copy", len(flags) > 1 and flags[1])
    kwargs.pop("non_blocking", None)
    wanted = kwargs.pop("memory_format", None)
    if wanted is not None:
        moved = to(self, *args, **kwargs, copy=copy)
        if wanted is preserve_format or (
            wanted is suggested(moved._shape, moved._geometry()[0])
            if moved is self
            else moved.is_contiguous(memory_format=wanted)
        ):
            return moved
        return moved.clone(memory_format=wanted)
    d, where = kwargs.pop("dtype", None), kwargs.pop("device", None)
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
    if d is not None:
        d = as_dtype(d, "to")
    for i, a in enumerate(args):
        if isinstance(a, dtype):
            d = a
        elif isinstance(a, str | device) or (a.__class__ is int and not i):
            where = a
        elif hasattr(a, "_keys"):
            d, where = a._dtype, a._device
        elif isinstance(a, type) and a in PYTHON_TYPES:
            d = PYTHON_TYPES[a]
        elif a is not None and not (isinstance(a, bool) and i):
            raise TypeError(
                f"to() received an invalid combination of arguments - argument {i + 1} must be "
                f"torch.dtype, torch.device, str or Tensor, not {type(a).__name__}"
            )
    target = self._device if where is None else concrete(where)
    if target is not self._device:
        storage = self._storage
        pending = None if storage is None else storage.pending
        if pending is not None and not pending.through_backward:
            self._settled()
        moved = fn._to_device(self, target)
        return moved if d is None or d is self._dtype else fn._to_dtype(moved, d)
    if where is not None:
        self._settled()
    if d is None or d is self._dtype:
        return self.clone() if copy else self
    return fn._to_dtype(self, d)


def _conversion(name: str) -> Any:
    def convert(self: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
        d = ALIASES.get(name) or DTYPES[{"byte": "uint8", "char": "int8"}.get(name, name)]
        return to(self, d) if memory_format is None else to(self, d, memory_format=memory_format)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"The tensor as {name}."
    return convert


_CONVERSIONS = (
    "float", "double", "half", "bfloat16", "cfloat", "cdouble",
    "int", "long", "short", "char", "byte", "bool",
)  # fmt: skip


def cpu(self: Tensor, memory_format: memory_format = preserve_format) -> Tensor:
    """The tensor in host memory."""
    return to(self, "cpu", memory_format=memory_format)


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype and on the device of another."""
    return to(self, other)


def type_(self: Tensor, dtype: dtype | None = None) -> Any:
    """The tensor in another dtype, or the name of its type if none is given.

    The name of a type, such as ``torch.DoubleTensor``, stands for its dtype.

    Raises:
        ValueError: for any other name, and for what is neither.
    """
    if dtype is None:
        return f"torch.{self._dtype.label}Tensor"
    wanted: Any = dtype
    if not isinstance(wanted, _dtype):
        name = wanted if isinstance(wanted, str) else getattr(wanted, "__name__", str(wanted))
        found = _BY_TYPE.get(name.removeprefix("torch."))
        if found is None:
            raise ValueError(
                f"invalid type: {name!r}: it is a dtype, or a name such as 'torch.FloatTensor'"
            )
        wanted = found
    return to(self, wanted)


_dtype = dtype
_BY_TYPE = {f"{d.label}Tensor": d for d in (DTYPES | FLOAT8).values()}
type_.__name__ = type_.__qualname__ = "type"


def _real_part(self: Tensor) -> Any:
    """The real part; the tensor itself where it is real."""
    if self._dtype.category != COMPLEX:
        return self
    return fn._real(self)


def _imaginary_part(self: Tensor) -> Tensor:
    """The imaginary part of a complex tensor, a view."""
    return fn.imag(self)


attach(
    __name__,
    {
        **{name: _conversion(name) for name in _CONVERSIONS},
        "cpu": cpu,
        "imag": property(_imaginary_part),
        "real": property(_real_part),
        "to": to,
        "type": type_,
        "type_as": type_as,
    },
)
