"""Tensors from classes: ``torch.Tensor([1, 2])``, ``torch.LongTensor(2, 3)``.

Code from before ``torch.tensor`` calls them. Integers are sizes, anything else is data.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from ..dispatch.functions import fn
from ..dispatch.overrides import undisturbed
from ..tensors.attached import attach
from ..tensors.subclasses import instance
from ..tensors.tensor import Tensor, alias
from ..values.devices import concrete, device, type_meant
from ..values.dtypes import (
    bfloat16,
    bool_,
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from ..values.own_frames import refusing
from ..values.shapes import Size
from .creation import is_array, tensor
from .pickling import elements, is_storage

__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "called",
    "type_on",
]


def called(
    d: dtype | None, args: tuple[Any, ...], *, device: device | str | None = None, **others: Any
) -> Tensor:
    """What calling a class of tensors gives.

    Args:
        d: the class's dtype; None for `Tensor`, whose numbers are of the default dtype.
        args: sizes, or one tensor, array or sequence.
        device: where to make it.
        others: ``size``, in the place of sizes; others it does not take.

    Raises:
        TypeError: for anything else, and for a tensor of another dtype or device.
        RuntimeError: for a storage of elements of another dtype.
    """
    if others.keys() == {"size"} and not args:
        args, others = (Size(others["size"]),), {}
    if others:
        raise TypeError(
            f"new() got an unexpected keyword argument '{next(iter(others))}': a class of tensors "
            f"takes sizes or data, and device. Use torch.tensor(data, dtype=...) or torch.empty(sizes, "
            f"dtype=...)"
        )
    on = concrete("cpu" if device is None else device)  # whatever the default is
    wanted = d or get_default_dtype()
    if not args:
        return _empty((0,), wanted, on)
    first = args[0]
    if len(args) == 1 and isinstance(first, Tensor):
        return _same(first, d, on if device is not None else None)
    if len(args) == 1 and is_storage(first):
        return _over(first, wanted)
    if len(args) == 1 and isinstance(first, Size):
        return _empty(first, wanted, on)
    if all(hasattr(a, "__index__") and not is_array(a) for a in args):
        return _empty(args, wanted, on)
    if len(args) == 1 and _is_data(first):
        return tensor(first, dtype=wanted, device=on)
    got = ", ".join(type(a).__name__ for a in args)
    raise TypeError(
        f"new() received an invalid combination of arguments ({got}): it takes sizes, one tensor, or one "
        f"sequence of data; torch.tensor(data) makes a tensor of a number"
    )


def new(self: Tensor, *args: Any, device: device | str | None = None, **named: Any) -> Tensor:
    """A tensor as the class of this one would make it, on its device.

    Raises:
        RuntimeError: for a tensor and a device, and for a device of another type than this one's.
        TypeError: for what `called` refuses.
    """
    if device is not None:
        _refuse_a_tensor("new of the form tensor.new(tensor, device=device)", args, "")
        _refuse_another_type(device, self._device.type)
    return called(self._dtype, args, device=self._device if device is None else device, **named)


def __new__(cls: type[Tensor], *args: Any, **kwargs: Any) -> Tensor:
    """``Tensor(...)``: of the default dtype, of given sizes or with given data."""
    if kwargs.get("device") is not None:
        _refuse_a_tensor(_MADE, args)
        _refuse_another_type(kwargs["device"], "cpu")
    made: Tensor = instance(_called(None, args, **kwargs), cls)
    return made


attach(__name__, {"__new__": staticmethod(__new__), "new": new})


def _empty(sizes: Any, d: dtype, on: device) -> Tensor:
    return fn.empty(tuple(sizes), dtype=d, device=on)


def _over(storage: Any, d: dtype) -> Tensor:
    """A tensor over all of a storage.

    Raises:
        RuntimeError: if its elements are of another dtype.
    """
    held = getattr(storage, "dtype", d)
    if held is not d:
        raise RuntimeError(
            f"Expected a Storage of type {d.label} or an UntypedStorage, but got type {held.label} for "
            f"argument 1 'storage'"
        )
    return elements(getattr(storage, "_untyped_storage", storage), d)


def _same(given: Tensor, d: dtype | None, on: device | None) -> Tensor:
    """A tensor over the memory of a given one.

    Raises:
        TypeError: if that is of another dtype or on another device.
    """
    if d not in (None, given._dtype) or on not in (None, given._device):
        raise TypeError(
            f"expected a tensor of {d or given._dtype} on {on or given._device} (got one of "
            f"{given._dtype} on {given._device}): convert it with to()"
        )
    return alias(given)


def _refuse_a_tensor(
    what: str, args: tuple[Any, ...], instead: str = "torch.tensor(...) or "
) -> None:
    """Refuse a tensor where a device is named as well: it stays where it is.

    Raises:
        RuntimeError: if the one argument is a tensor.
    """
    if len(args) == 1 and isinstance(args[0], Tensor):
        raise RuntimeError(
            f"Legacy tensor {what} is not supported.  Use {instead}torch.as_tensor(...) instead."
        )


def _refuse_another_type(named: device | str, own: str) -> None:
    """Refuse a device that is not of the class's own type.

    Raises:
        RuntimeError: if it is of another one.
    """
    asked = concrete(named).type
    if asked != own:
        raise RuntimeError(
            f"legacy constructor expects device type: {own} but device type: {asked} was passed. Use "
            f"torch.empty(sizes, device=...) or torch.tensor(data, device=...) instead."
        )


def _is_data(value: Any) -> bool:
    return is_array(value) or (
        hasattr(value, "__getitem__")
        and hasattr(value, "__len__")
        and not isinstance(value, str | bytes | dict)
    )


class _TensorType(type):
    """The class of ``torch.FloatTensor``: it makes tensors of its dtype and knows them."""

    dtype: dtype
    on: str  # type of their devices

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        if kwargs.get("device") is not None:
            _refuse_a_tensor(_MADE, args)
            _refuse_another_type(kwargs["device"], type_meant(cls.on))
        if cls.on != "cpu":
            kwargs.setdefault("device", cls.on)
        return _called(cls.dtype, args, **kwargs)

    def __instancecheck__(cls, value: Any) -> bool:
        return (
            isinstance(value, Tensor)
            and value._dtype is cls.dtype
            and value._device.type == type_meant(cls.on)
        )


@refusing
def _called(d: dtype | None, args: tuple[Any, ...], **kwargs: Any) -> Tensor:
    made: Tensor = undisturbed(called, d, args, **kwargs)
    return made


_MADE: Final = "constructor of the form torch.Tensor(tensor, device=device)"


def _type_of(d: dtype) -> _TensorType:
    name = f"{d.label}Tensor"
    doc = f"Tensors of {d!r} in host memory; calling it makes one, as `Tensor` does."
    body = {"dtype": d, "on": "cpu", "__doc__": doc, "__module__": "mindtorch_core"}
    return _TensorType(name, (), body)


@functools.cache
def type_on(name: str, on: str) -> type | None:
    """The class of a device's tensors by its name, as ``torch.cuda.FloatTensor``; None if there is none.

    Args:
        name: such as ``FloatTensor``.
        on: the type of devices, as programs name it.
    """
    host = globals().get(name)
    if not isinstance(host, _TensorType):
        return None
    doc = f"Tensors of {host.dtype!r} on devices of type {on}; calling it makes one."
    body = {"dtype": host.dtype, "on": on, "__doc__": doc, "__module__": f"torch.{on}"}
    return _TensorType(name, (), body)


FloatTensor: Final = _type_of(float32)
DoubleTensor: Final = _type_of(float64)
HalfTensor: Final = _type_of(float16)
BFloat16Tensor: Final = _type_of(bfloat16)
ByteTensor: Final = _type_of(uint8)
CharTensor: Final = _type_of(int8)
ShortTensor: Final = _type_of(int16)
IntTensor: Final = _type_of(int32)
LongTensor: Final = _type_of(int64)
BoolTensor: Final = _type_of(bool_)
