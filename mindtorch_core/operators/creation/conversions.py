"""Conversions by the names that PyTorch's ops have: ``torch.ops.aten.to`` and what it becomes there."""

from __future__ import annotations

from typing import Any

from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.devices import device
from ...values.dtypes import dtype

__all__: list[str] = []

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
