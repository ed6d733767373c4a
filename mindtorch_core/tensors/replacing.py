"""Other memory for a storage: larger, smaller, or shared by processes."""

from __future__ import annotations

import gc

from ..values.devices import row_of
from ..values.shapes import storage_extent
from .storage import SharedStorage, Storage
from .tensor import Tensor

__all__ = ["replace_memory"]


def replace_memory(storage: Storage, new: Storage, only: Tensor | None = None) -> None:
    """Give a storage the memory of another one; tensors over it show that from now on.

    Those that reach beyond its end keep what they show.

    Args:
        storage: the storage, settled.
        new: what has the memory.
        only: the tensor that alone is over it, if that is known; otherwise all are searched for.
    """
    root = storage.root
    same = [root]
    if only is not None:
        tensors = [only]
        same.append(only._own_storage())
    else:
        same += [s for s in gc.get_referrers(root) if isinstance(s, SharedStorage)]
        tensors = [t for t in gc.get_referrers(*same) if isinstance(t, Tensor)]
    layouts = [t._geometry() for t in tensors]  # which may be read from the memory
    for each in same:
        each.memory, each.size_bytes = new.memory, new.size_bytes
    root.mapping = new.mapping
    runtime = row_of(storage.device.type).runtime
    for t, (strides, offset) in zip(tensors, layouts, strict=True):
        t._strided = strides, offset
        if storage_extent(t._shape, strides, offset) * t._dtype.itemsize <= new.size_bytes:
            t._payload = runtime.payload(new, t._shape, strides, offset, t._dtype)
