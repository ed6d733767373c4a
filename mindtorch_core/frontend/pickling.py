"""Copies and pickles of tensors: layout, shared memory and Python attributes are kept.

A tensor is taken apart into its storage and what describes its view of it. Storages are copied and
pickled by themselves, so tensors that share memory still do when they are copied together.
"""

from __future__ import annotations

import copy
import copyreg
from typing import Any

from ..dispatch.key_order import mask_of
from ..tensors.attached import attach
from ..tensors.autograd_state import born
from ..tensors.storage import Storage
from ..tensors.subclasses import hollow, instance
from ..tensors.tensor import FIELDS, Tensor, make_tensor
from ..tensors.unresolved import MARKS, unresolved
from ..values.devices import concrete, row_of
from ..values.dtypes import dtype, int64, uint8
from ..values.shapes import Shape

__all__ = [
    "copied_storage",
    "copied_tensor",
    "elements",
    "is_storage",
    "rebuild_storage",
    "rebuild_tensor",
    "rebuild_wrapper",
    "reduced_storage",
    "reduced_tensor",
    "state_of",
]


def reduced_tensor(t: Tensor) -> tuple[Any, ...]:
    """What `rebuild_tensor` and pickle need to make the tensor again; results become leaves."""
    storage = t._settled()._own_storage()
    strides, offset = t._geometry()
    described = t._shape, strides, offset, t._dtype, t.requires_grad
    if hollow(t):
        return rebuild_wrapper, (type(t), t._device, *described), state_of(t)
    return rebuild_tensor, (type(t), storage, *described, *unresolved(t)), state_of(t)


def state_of(t: Tensor) -> Any:
    """The attributes of a tensor as pickle has them: those in its class's slots apart, None for none."""
    if type(t) is Tensor:
        return t.__dict__ or None
    names: list[str] = copyreg._slotnames(type(t))  # type: ignore[attr-defined]
    slots = {n: getattr(t, n) for n in names if n not in _FIELDS and hasattr(t, n)}
    return (t.__dict__, slots) if slots else t.__dict__ or None


_FIELDS = {*FIELDS.values()}


def rebuild_wrapper(
    cls: type[Tensor],
    on: Any,
    shape: Shape,
    strides: Shape,
    offset: int,
    d: dtype,
    requires_grad: bool,
) -> Tensor:
    """A new leaf of a class whose instances have no elements of their own."""
    made: Tensor = cls._make_wrapper_subclass(
        cls, shape, strides, offset, dtype=d, device=on, requires_grad=requires_grad
    )
    return made


def rebuild_tensor(
    cls: type[Tensor],
    storage: Storage,
    shape: Shape,
    strides: Shape,
    offset: int,
    d: dtype,
    requires_grad: bool,
    *marks: str,
) -> Tensor:
    """A new leaf over a storage, with the `MARKS` of those names."""
    runtime = row_of(storage.device.type).runtime
    data = runtime.payload(storage, shape, strides, offset, d)
    keys = mask_of([runtime.key, *(MARKS[name] for name in marks)])
    made = born(make_tensor(data, shape, d, storage.device, keys, storage, (strides, offset)))
    if cls is not Tensor:
        made = instance(made, cls)
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
    rebuild, (cls, place, *described), state = reduced_tensor(t)
    made: Tensor = rebuild(cls, copy.deepcopy(place, memo), *described)
    memo[id(t)] = made
    grad = t.grad
    if grad is not None:
        made.grad = copy.deepcopy(grad, memo)
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    if attributes:
        made.__dict__.update(copy.deepcopy(attributes, memo))
    for name, value in (slots or {}).items():
        setattr(made, name, copy.deepcopy(value, memo))
    return made


# ---- storages -----------------------------------------------------------------------------------


def reduced_storage(storage: Storage, protocol: int) -> tuple[Any, ...]:
    """What `rebuild_storage` needs to make the storage again."""
    data: Any = storage.host_bytes()
    import pickle  # takes a millisecond, and programs that copy nothing need it not

    data = pickle.PickleBuffer(data) if protocol >= 5 else bytes(data)
    return rebuild_storage, (data, storage.size_bytes, str(storage.device))


def rebuild_storage(data: Any, nbytes: int, on: str) -> Storage:
    """A storage with a copy of host bytes, or with undefined ones if they are None."""
    where = concrete(on)
    runtime = row_of(where.type).runtime
    storage = runtime.empty((nbytes,), None, uint8, where)._own_storage()
    if runtime.executes and nbytes and data is not None:
        runtime.copy_from_host(storage.memory, 0, memoryview(data))
    return storage


def elements(storage: Any, d: dtype | None = None) -> Tensor:
    """The elements of a storage as a tensor with one dimension, which shares memory with it.

    Args:
        storage: a storage, of bytes or typed.
        d: dtype of the elements; by default that of a typed one, and ``int64`` as in PyTorch.
    """
    raw: Storage = getattr(storage, "_untyped_storage", storage)
    own = getattr(storage, "dtype", None)
    raw.settle()
    read = own or d or int64
    made = rebuild_tensor(Tensor, raw, (raw.size_bytes // read.itemsize,), (1,), 0, read, False)
    return made if d is None or d is read else made.to(d)


def is_storage(obj: Any) -> bool:
    """Whether an object is a storage, of bytes or typed."""
    return isinstance(obj, _STORAGES)


class Typed:
    """The base of typed storages, by which they are known where they are not imported."""


_STORAGES = (Storage, Typed)  # a tuple: a union would be made anew in each call


def copied_storage(storage: Storage, memo: dict[Any, Any]) -> Storage:
    """Fresh memory with the same bytes, once for all that shows the memory."""
    # A tensor shares it with its ``data``; what is not a number is nobody else's key.
    key: Any = (Storage, id(storage if storage.memory is None else storage.memory))
    if key not in memo:
        storage.settle()
        flat = rebuild_tensor(Tensor, storage, (storage.size_bytes,), (1,), 0, uint8, False)
        copied: Tensor = flat.clone()
        memo[key] = copied._settled()._own_storage()
    made: Storage = memo[key]
    return made


# ---- what Python calls, under the names that it calls -------------------------------------------


def __reduce_ex__(self: Tensor | Storage, protocol: Any) -> tuple[Any, ...]:
    """What pickle needs to make the tensor, or storage, again."""
    return reduced_storage(self, protocol) if isinstance(self, Storage) else reduced_tensor(self)


def __deepcopy__(self: Tensor | Storage, memo: dict[Any, Any]) -> Tensor | Storage:
    """A deep copy of the tensor, or storage."""
    return copied_storage(self, memo) if isinstance(self, Storage) else copied_tensor(self, memo)


_METHODS = {"__deepcopy__": __deepcopy__, "__reduce_ex__": __reduce_ex__}
attach(__name__, _METHODS)
for _name, _method in _METHODS.items():
    setattr(Storage, _name, _method)
