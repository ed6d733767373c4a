"""Another size for a tensor in place: what ``resize_`` and ``out=`` do."""

from __future__ import annotations

from typing import Final

from ..dispatch.functions import fn
from ..tensors.making import tensor_over
from ..tensors.replacing import replace_memory
from ..tensors.storage import BEFORE_EXPORT, Storage, held_alone
from ..tensors.tensor import Tensor
from ..values.devices import TABLE
from ..values.dtypes import uint8
from ..values.shapes import Shape, contiguous_strides, show, storage_extent

__all__ = ["resize"]

_BEYOND: Final = 1 << 63  # sizes and strides are signed numbers of 64 bits


def resize(t: Tensor, shape: Shape, strides: Shape | None = None) -> None:
    """Change the shape of a tensor, keeping the elements its memory begins with.

    The memory is kept too if it is large enough. Otherwise the storage gets larger memory, which all
    tensors over it show from then on.

    Args:
        t: the tensor; it must not require grad.
        shape: its new shape.
        strides: its new strides, row-major if None.

    Raises:
        RuntimeError: if larger memory is wanted for what a file, another process or NumPy knows, or no
            address is that large.
    """
    for flush in BEFORE_EXPORT:  # a recorded op may have to read what the tensor was
        flush()
    storage, offset, d = t._settled()._own_storage(), t._geometry()[1], t._dtype
    steps = contiguous_strides(shape) if strides is None else strides
    needed = storage_extent(shape, steps, offset) * d.itemsize
    for what, reached in (("Storage size", needed), ("Stride", max(steps, default=0))):
        if reached >= _BEYOND:
            raise RuntimeError(f"{what} calculation overflowed with sizes={show(shape)}")
    if needed > storage.size_bytes:
        if not storage.replaceable:
            raise RuntimeError("Trying to resize storage that is not resizable")
        only = t if held_alone(t) else None  # here: arguments of a call refer to the storage too
        replace_memory(storage, _grown(storage, needed), only)
    t._shape, t._strided = shape, (steps, offset)
    t._payload = TABLE[t._device.type].runtime.payload(storage, shape, steps, offset, d)


def _grown(storage: Storage, nbytes: int) -> Storage:
    """A larger storage that begins with the bytes of another one."""
    made, kept = fn.empty((nbytes,), dtype=uint8, device=storage.device), storage.size_bytes
    if kept:
        old = tensor_over(storage.memory, kept, (kept,), uint8, storage.device)
        made.narrow(0, 0, kept).copy_(old)
    return made._settled()._own_storage()
