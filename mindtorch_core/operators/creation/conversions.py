"""Conversions to another dtype or device: the method ``to`` and its kin, and PyTorch's ops of them."""

from __future__ import annotations

from typing import Any, Final

from ...dispatch.functions import fn
from ...opdefs.define import op
from ...opdefs.rules import tell_of_lost_parts
from ...tensors.attached import attach
from ...tensors.tensor import Tensor
from ...tensors.type_names import type_name
from ...values.devices import KNOWN_TYPES, TABLE, concrete, device, type_meant
from ...values.dtypes import (
    ALIASES,
    DTYPES,
    FLOAT8,
    PYTHON_TYPES,
    as_dtype,
    dtype,
    get_default_dtype,
)
from ...values.memory_formats import memory_format, preserve_format, suggested
from ...values.own_frames import hide

__all__: list[str] = []


def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor in another dtype or on another device; itself if nothing changes.

    Called as ``to(dtype)``, ``to(device, dtype=None)`` or ``to(other)``, each with
    ``non_blocking``, ``copy`` and ``memory_format``. Leaving a device waits for the work queued on
    the tensor; in a pipeline that goes through backward the copy is recorded like any other op.

    Args:
        self: the tensor.
        *args: a dtype; a device and a dtype; or a tensor that has both.
        **kwargs: the same by name, and ``non_blocking``, ``copy`` and ``memory_format``.

    Raises:
        BackendUnavailableError: if no plugin serves the device.
        TypeError: if the arguments fit none of the forms.

    Example:
        >>> x = torch.tensor([1, 2])
        >>> x.to(torch.float32), x.to("meta").device, x.to(torch.int64) is x
        (tensor([1., 2.]), device(type='meta'), True)
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
            d = a._dtype
            where = None if a._device is self._device else a._device
        elif isinstance(a, type) and a in PYTHON_TYPES:
            d = PYTHON_TYPES[a]
        elif a is not None and not (isinstance(a, bool) and i):
            raise TypeError(
                f"to() received an invalid combination of arguments - argument {i + 1} must be "
                f"torch.dtype, torch.device, str or Tensor, not {type(a).__name__}"
            )
    if where is not None:
        storage = self._storage
        pending = None if storage is None else storage.pending
        if pending is not None and not pending.through_backward:
            self._settled()
        target = concrete(where)
        if target is not self._device:
            moved = fn._to_device(self, target)
            return moved if d is None or d is self._dtype else fn._to_dtype(moved, d)
    if d is None or d is self._dtype:
        return self.clone() if copy else self
    tell_of_lost_parts(self._dtype, d)
    return fn._to_dtype(self, d)


_PAGE: Final = """The tensor in the dtype {dtype}: itself if it has that one, else a copy.

Args:
    self: the tensor.
    memory_format: in which order elements of the result lie.

Example:
    >>> torch.tensor([1, 0]).{name}().dtype
    {dtype}
"""


def _conversion(name: str) -> Any:
    d = ALIASES.get(name) or DTYPES[{"byte": "uint8", "char": "int8"}.get(name, name)]

    def convert(self: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
        return to(self, d) if memory_format is None else to(self, d, memory_format=memory_format)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = _PAGE.format(name=name, dtype=d)
    return convert


_CONVERSIONS = (
    "float", "double", "half", "bfloat16", "cfloat", "cdouble",
    "int", "long", "short", "char", "byte", "bool",
)  # fmt: skip


_CPU: Final = device("cpu")


def cpu(self: Tensor, memory_format: memory_format = preserve_format) -> Tensor:
    """The tensor in host memory: itself if it is there, else a copy.

    Args:
        self: the tensor.
        memory_format: in which order elements of a copy lie.

    Example:
        >>> torch.ones(2).cpu().device
        device(type='cpu')
    """
    try:
        if memory_format is preserve_format:
            return to(self, _CPU)
        return to(self, _CPU, memory_format=memory_format)
    except Exception as error:
        hide(error)
        raise


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype and on the device of another.

    Args:
        self: the tensor.
        other: whose dtype and device are taken.

    Example:
        >>> torch.ones(2).type_as(torch.tensor([1]))
        tensor([1, 1])

    Raises:
        TypeError: if that is no tensor.
    """
    if not (hasattr(other, "_keys") or hasattr(type(other), "__torch_function__")):
        kind = type(other).__name__
        raise TypeError(f"type_as(): argument 'other' (position 1) must be Tensor, not {kind}")
    return to(self, other)


def type_(self: Tensor, dtype: dtype | None = None) -> Any:
    """The tensor in another dtype, or the name of its type if none is given.

    The name of a type stands for its dtype and its device: ``torch.DoubleTensor`` is one in host memory,
    ``torch.cuda.FloatTensor`` one of that device's type.

    Args:
        self: the tensor.
        dtype: the dtype, or a name of a type.

    Raises:
        TypeError: for what is neither.
        ValueError: for any other name.

    Example:
        >>> torch.ones(2).type(), torch.ones(2).type(torch.int64)
        ('torch.FloatTensor', tensor([1, 1]))
    """
    if dtype is None:
        return type_name(self)
    if isinstance(dtype, _dtype):
        return to(self, dtype)
    if dtype is Tensor or dtype == "torch.Tensor":
        return to(self, get_default_dtype())
    if not isinstance(dtype, str | type):
        raise TypeError("dtype must be a type, str, or dtype object")
    name = dtype if isinstance(dtype, str) else _full_name(dtype)
    *on, last = name.removeprefix("torch.").removeprefix("sparse.").split(".")
    place = ".".join(on).removesuffix(".sparse")
    if last not in _BY_TYPE or not (place == "" or place in _named_devices()):
        raise ValueError(
            f"invalid type: {name!r}: it is a dtype, or a name such as 'torch.FloatTensor'"
        )
    kept = type_meant(place or "cpu") == self._device.type  # with the device's index
    return to(self, self._device if kept else place or "cpu", _BY_TYPE[last])


def _named_devices() -> set[str]:
    """Types of devices in names of tensors' types: not the host's, which goes without, nor meta's."""
    return {*KNOWN_TYPES, *TABLE} - {"cpu", "meta"}


def _full_name(kind: Any) -> str:
    """The name of a class of tensors, with its device."""
    name, module = getattr(kind, "__name__", str(kind)), str(getattr(kind, "__module__", ""))
    return f"{module}.{name}" if module.startswith("torch.") else name


_dtype = dtype
_BY_TYPE = {f"{d.label}Tensor": d for d in (DTYPES | FLOAT8).values()}
type_.__name__ = type_.__qualname__ = "type"


attach(
    __name__,
    {
        **{name: _conversion(name) for name in _CONVERSIONS},
        "cpu": cpu,
        "to": to,
        "type": type_,
        "type_as": type_as,
    },
)

_OPTIONS = "bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None"
_DTYPE_LAYOUT = (
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
)


def _converted(
    self: Any, d: dtype | None, on: device | None, copy: bool, memory_format: Any
) -> Tensor:
    """The method ``to``, which all of these are."""
    options = {} if memory_format is None else {"memory_format": memory_format}
    found: Tensor = self.to(device=on, dtype=d, copy=copy, **options)
    return found


def _to_copy(
    self: Tensor,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> Tensor:
    return _converted(self, dtype, device, True, memory_format)


def _to_dtype_layout(
    self: Tensor,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    return _converted(self, dtype, device, copy, memory_format)


def _to_device(
    self: Tensor,
    device: Any,
    dtype: Any,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    return _converted(self, dtype, device, copy, memory_format)


def _to_dtype(
    self: Tensor,
    dtype: Any,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    return _converted(self, dtype, None, copy, memory_format)


def _to_other(
    self: Tensor,
    other: Tensor,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    return _converted(self, other._dtype, other._device, copy, memory_format)


for _schema, _run in (
    (
        f"to.dtype_layout(Tensor(a) self, *, {_DTYPE_LAYOUT}{_OPTIONS}) -> Tensor(a)",
        _to_dtype_layout,
    ),
    (
        f"to.device(Tensor(a) self, Device device, ScalarType dtype, {_OPTIONS}) -> Tensor(a)",
        _to_device,
    ),
    (f"to.dtype(Tensor(a) self, ScalarType dtype, {_OPTIONS}) -> Tensor(a)", _to_dtype),
    (f"to.other(Tensor(a) self, Tensor other, {_OPTIONS}) -> Tensor(a)", _to_other),
    (
        f"_to_copy(Tensor self, *, {_DTYPE_LAYOUT}bool non_blocking=False, "
        "MemoryFormat? memory_format=None) -> Tensor",
        _to_copy,
    ),
):
    op(
        _schema,
        doc="Another dtype or device, as the method ``to`` does it.",
        namespaces=(),
        decomposition=_run,
    )
