"""Storages by themselves: made of sizes, bytes and files, cut, exchanged and shared by processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, Final

from ..tensors.mapped import Mapping, map_file, shared_block
from ..tensors.replacing import replace_memory
from ..tensors.storage import Storage, held_alone
from ..tensors.tensor import Tensor
from ..values.devices import device, row_of
from ..values.dtypes import uint8
from .pickling import rebuild_storage, rebuild_tensor

__all__ = [
    "BEFORE_SHARING",
    "STRATEGY",
    "UntypedStorage",
    "flat",
    "mapped_bytes",
    "mapped_storage",
    "part",
    "share",
    "storage_over",
]

STRATEGY: Final = ["file_descriptor"]  # by which memory becomes shared; one element
# Called before memory is first shared: `multiprocessing` learns how it travels.
BEFORE_SHARING: Final[list[Callable[[], object]]] = []


class _Untyped(type):
    """The type of `UntypedStorage`: every storage is one, whoever made it."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Storage)

    def __subclasscheck__(cls, subclass: Any) -> bool:
        return subclass in (cls, *cls.__bases__) or type.__subclasscheck__(cls, subclass)


class UntypedStorage(Storage, metaclass=_Untyped):
    """Bytes of memory on a device.

    Args:
        data: their number, or the bytes themselves as integers; none by default.
        device: where.

    Raises:
        RuntimeError: if a byte is no integer, or the number is negative.
        TypeError: for other arguments.
    """

    __slots__ = ()

    def __init__(self, data: Any = 0, *, device: device | str | None = None) -> None:
        if isinstance(data, int):
            if data < 0:
                raise RuntimeError(f"a storage cannot have {data} bytes")
            content, size = None, data
        else:
            content = _bytes_of(data)
            size = len(content)
        made = rebuild_storage(content, size, str(device or "cpu"))
        super().__init__(made.memory, made.size_bytes, made.device)

    @staticmethod
    def from_file(
        filename: str | os.PathLike[str], shared: bool = False, nbytes: int = 0
    ) -> Storage:
        """A storage whose memory is a file.

        Args:
            filename: its path.
            shared: whether writes change the file, which is made where there is none; otherwise they
                stay in this process.
            nbytes: how many bytes from its beginning.

        Raises:
            RuntimeError: if it cannot be opened, or is too short.
        """
        if not nbytes:
            return UntypedStorage()
        return mapped_storage(map_file(os.fspath(filename), shared, nbytes))

    @staticmethod
    def from_buffer(
        buffer: Any, byte_order: str = "native", count: int = -1, offset: int = 0, *, dtype: Any
    ) -> Storage:
        """A storage with a copy of the elements in a buffer.

        Args:
            buffer: an object with the buffer protocol.
            byte_order: of its elements: ``native``, ``little`` or ``big``.
            count: how many elements; all if negative.
            offset: bytes to skip.
            dtype: of the elements.

        Raises:
            ValueError: if the buffer has not that many bytes, or there is no such order of bytes.
        """
        if byte_order not in ("native", "little", "big"):
            raise ValueError(f"invalid byte_order {byte_order!r}: native, little or big")
        whole, size = memoryview(buffer).cast("B"), dtype.itemsize
        data = whole[offset:]
        end = len(data) if count < 0 else count * size
        if not 0 <= offset <= len(whole) or end > len(data) or (count < 0 and end % size):
            raise ValueError(
                f"a buffer with {len(data)} bytes after offset {offset} does not hold "
                f"{'whole' if count < 0 else count} elements of {size} bytes"
            )
        made = rebuild_storage(bytes(data[:end]), end, "cpu")
        if byte_order not in ("native", sys.byteorder):
            made.byteswap(dtype)
        return made


def _bytes_of(data: Any) -> bytes:
    try:
        values = list(data)
    except TypeError:
        raise RuntimeError(
            f"torch.UntypedStorage(): Expected a sequence type, but got {type(data).__name__}"
        ) from None
    for value in values:
        if not isinstance(value, int):
            raise RuntimeError(
                f"torch.UntypedStorage(): tried to construct a storage from a sequence "
                f"({type(data).__name__}), but one of the items was of type {type(value).__name__} "
                f"instead of int"
            )
    return bytes(value & 255 for value in values)


def flat(storage: Storage) -> Tensor:
    """The bytes of a storage as a tensor, which shares memory with it."""
    storage.settle()
    return rebuild_tensor(Tensor, storage, (storage.size_bytes,), (1,), 0, uint8, False)


# ---- memory of the host -------------------------------------------------------------------------


def storage_over(data: memoryview) -> Storage:
    """A storage on the CPU over bytes, which it keeps alive."""
    if not len(data):
        return rebuild_storage(b"", 0, "cpu")
    runtime: Any = row_of("cpu").runtime
    made: Storage = runtime.from_buffer(data, uint8)._own_storage()
    return made


def mapped_bytes(path: str | os.PathLike[str], shared: bool, nbytes: int) -> memoryview:
    """The bytes of a file, mapped into memory."""
    return map_file(os.fspath(path), shared, nbytes).data


def mapped_storage(mapping: Mapping) -> Storage:
    """A storage over memory of more than one process."""
    made = storage_over(mapping.data)
    made.mapping = mapping
    return made


def part(storage: Storage, start: int, stop: int) -> Storage:
    """A storage over some bytes of another one, with which it shares memory.

    Raises:
        NotImplementedError: on devices whose memory the host does not reach.
    """
    runtime: Any = row_of(storage.device.type).runtime
    if not hasattr(runtime, "from_numpy"):
        raise NotImplementedError(
            f"a part of a storage on {storage.device} cannot be a storage: slice a tensor over it"
        )
    made: Storage = runtime.from_numpy(runtime.numpy(flat(storage)[start:stop]))._own_storage()
    made.mapping = storage.mapping
    return made


# ---- other memory for a storage -----------------------------------------------------------------


def share(storage: Storage, only: Tensor | None = None) -> None:
    """Move a storage to memory that processes share, unless it is there.

    Args:
        storage: the storage.
        only: the tensor that alone is over it, if that is known.

    Raises:
        RuntimeError: on devices other than the CPU.
    """
    if storage.mapping is not None and storage.mapping.shared:
        return
    if storage.device.type != "cpu":
        raise RuntimeError(
            f"_share_fd_: only available on CPU: memory of {storage.device} cannot be shared between "
            f"processes. Send a copy on the CPU, tensor.cpu()"
        )
    while BEFORE_SHARING:
        BEFORE_SHARING.pop()()
    storage.settle()
    block = shared_block(storage.size_bytes, STRATEGY[0])
    block.data[:] = storage.host_bytes()
    replace_memory(storage, mapped_storage(block), only)


def share_tensor(t: Tensor) -> None:
    """`share` for the storage of a tensor; faster where nobody else has it."""
    t._settled()._own_storage()
    share(t._own_storage(), t if held_alone(t) else None)
