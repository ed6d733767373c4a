"""How tensors and storages travel between processes: as the way to memory that both see."""

from __future__ import annotations

import os
import threading
import weakref
from multiprocessing.reduction import DupFd, ForkingPickler
from typing import Any, Final

from ..frontend.pickling import rebuild_storage, reduced_storage, reduced_tensor
from ..frontend.storages import UntypedStorage, mapped_storage, share, share_tensor
from ..frontend.typed_storage import TypedStorage, wrapped
from ..gradients.handles import warn_if_has_hooks
from ..tensors.mapped import Mapping, open_block
from ..tensors.storage import SharedStorage, Storage
from ..tensors.tensor import Tensor

__all__ = ["install", "reduce_storage", "reduce_tensor"]

# Storages over memory that has come from elsewhere or gone there, by the file that it is: memory that
# comes again is the same storage.
_known: Final[weakref.WeakValueDictionary[tuple[int, int], Storage]] = weakref.WeakValueDictionary()
_lock: Final = threading.RLock()


def reduce_tensor(t: Tensor) -> tuple[Any, ...]:
    """What makes a tensor again in another process.

    Raises:
        RuntimeError: for the result of a recorded op: no history crosses processes.
    """
    if t.requires_grad and not t.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does "
            "not support crossing process boundaries.  If you just want to transfer the data, call "
            "detach() on the tensor before serializing (e.g., putting it on the queue)."
        )
    warn_if_has_hooks(t)
    if t.device.type == "cpu":
        share_tensor(t)
    return reduced_tensor(t)


def reduce_storage(storage: Storage) -> tuple[Any, ...]:
    """What makes a storage again in another process; on devices without shared memory a copy."""
    if storage.device.type != "cpu":
        return reduced_storage(storage, 2)
    root = storage.root
    if not root.size_bytes:
        return rebuild_storage, (b"", 0, "cpu")
    share(root)
    mapping = root.mapping
    assert mapping is not None
    if mapping.fd is not None:
        _remember(_file(mapping.fd), root)
        return _from_descriptor, (DupFd(mapping.fd), root.size_bytes)
    if mapping.owned:
        _remember(_file(mapping.filename), root)
        return _from_name, (mapping.alias(), root.size_bytes)
    return UntypedStorage.from_file, (mapping.filename, True, root.size_bytes)


def _file(at: Any) -> tuple[int, int]:
    status = os.stat(at)
    return status.st_dev, status.st_ino


def _remember(file: tuple[int, int], storage: Storage) -> Storage:
    """The storage over a file: the one that is known, if it is."""
    with _lock:
        return _known.setdefault(file, storage)


def _from_descriptor(duplicate: Any, nbytes: int) -> Storage:
    fd = duplicate.detach()
    found = _known.get(_file(fd))
    if found is not None:
        os.close(fd)
        return found
    made = mapped_storage(Mapping(fd, nbytes, shared=True, keep=True))
    return _remember(_file(fd), made)


def _from_name(name: str, nbytes: int) -> Storage:
    mapping = open_block(name, nbytes)
    return _remember(_file(name), mapped_storage(mapping))


def _reduce_typed(storage: TypedStorage) -> tuple[Any, ...]:
    return wrapped, (storage._untyped_storage, storage.dtype)


def install() -> None:
    """Have ``multiprocessing`` send tensors so."""
    for kind in (Storage, SharedStorage, UntypedStorage):
        ForkingPickler.register(kind, reduce_storage)
    ForkingPickler.register(TypedStorage, _reduce_typed)
    # Tensors of other classes take themselves apart, into their storage and what describes them.
    ForkingPickler.register(Tensor, reduce_tensor)
