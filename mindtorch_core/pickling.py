"""Copies and pickles of tensors: layout, shared memory and Python attributes are kept.

A tensor is taken apart into its storage and what describes its view of it. Storages are copied and
pickled by themselves, so tensors that share memory still do when they are copied together.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

from .autograd_state import born
from .devices import concrete, row_of
from .dtypes import dtype, uint8
from .shapes import Shape
from .storage import Storage
from .tensor import Tensor, make_tensor

__all__ = [
    "copied_storage",
    "copied_tensor",
    "rebuild_storage",
    "rebuild_tensor",
    "reduced_storage",
    "reduced_tensor",
    "storage_bytes",
]


def reduced_tensor(t: Tensor) -> tuple[Any, ...]:
    """What `rebuild_tensor` and pickle need to make the tensor again; results become leaves."""
    storage = t._settled()._own_storage()
    strides, offset = t._geometry()
    args = (type(t), storage, t._shape, strides, offset, t._dtype, t.requires_grad)
    return rebuild_tensor, args, t.__dict__ or None


def rebuild_tensor(
    cls: type[Tensor],
    storage: Storage,
    shape: Shape,
    strides: Shape,
    offset: int,
    d: dtype,
    requires_grad: bool,
) -> Tensor:
    """A new leaf over a storage."""
    runtime = row_of(storage.device.type).runtime
    data = runtime.payload(storage, shape, strides, offset, d)
    made = born(
        make_tensor(data, shape, d, storage.device, runtime.key, storage, (strides, offset))
    )
    if cls is not Tensor:
        made.__class__ = cls
    return made.requires_grad_(requires_grad)


def copied_tensor(t: Tensor, memo: dict[int, Any]) -> Tensor:
    """A deep copy: of the whole storage, the gradient and the attributes.

    Raises:
        RuntimeError: for the result of a recorded op.
    """
    if not t.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment; copy tensor.detach()"
        )
    rebuild, (cls, storage, *described), attributes = reduced_tensor(t)
    made: Tensor = rebuild(cls, copy.deepcopy(storage, memo), *described)
    memo[id(t)] = made
    grad = t.grad
    if grad is not None:
        made.grad = copy.deepcopy(grad, memo)
    if attributes:
        made.__dict__.update(copy.deepcopy(attributes, memo))
    return made


# ---- storages -----------------------------------------------------------------------------------


def storage_bytes(storage: Storage) -> memoryview:
    """A copy of a storage's bytes in host memory; empty for a device without data."""
    storage.settle()
    runtime = row_of(storage.device.type).runtime
    if not runtime.executes or not storage.size_bytes:
        return memoryview(b"")
    return runtime.copy_to_host(storage.memory, 0, storage.size_bytes)


def reduced_storage(storage: Storage, protocol: int) -> tuple[Any, ...]:
    """What `rebuild_storage` needs to make the storage again."""
    data: Any = storage_bytes(storage)
    data = pickle.PickleBuffer(data) if protocol >= 5 else bytes(data)
    return rebuild_storage, (data, storage.size_bytes, str(storage.device))


def rebuild_storage(data: Any, nbytes: int, on: str) -> Storage:
    """A storage with a copy of host bytes."""
    where = concrete(on)
    runtime = row_of(where.type).runtime
    storage = runtime.empty((nbytes,), None, uint8, where)._own_storage()
    if runtime.executes and nbytes:
        runtime.copy_from_host(storage.memory, 0, memoryview(data))
    return storage


def copied_storage(storage: Storage) -> Storage:
    """Fresh memory with the same bytes."""
    storage.settle()
    flat = rebuild_tensor(Tensor, storage, (storage.size_bytes,), (1,), 0, uint8, False)
    copied: Tensor = flat.clone()
    return copied._settled()._own_storage()
