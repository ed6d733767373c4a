"""The memory behind tensors: what views of one tensor share."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .devices import device
    from .tensor import Tensor

__all__ = ["BEFORE_EXPORT", "SharedStorage", "Storage", "held_once"]

# Called before memory is shown to code that mindtorch does not see (NumPy arrays, addresses): such
# code may write to memory that recorded ops have still to read.
BEFORE_EXPORT: Final[list[Callable[[], None]]] = []


class Storage:
    """Memory of one device, shared by a tensor and its views.

    Attributes:
        memory: the backend's handle; it owns the memory and releases it with its last reference.
        size_bytes: size in bytes.
        device: where the memory lies.
        version: bumped by every in-place op on any tensor over this memory.
        views: weak references to the views made of it, pruned as they die.
        pending: the pipeline that has recorded writes to this memory and not launched them, or None.
    """

    __slots__ = (
        "__weakref__",
        "_prune_at",
        "device",
        "memory",
        "pending",
        "size_bytes",
        "version",
        "views",
    )

    def __init__(self, memory: Any, nbytes: int, device: device) -> None:
        self.memory = memory
        self.size_bytes = nbytes
        self.device = device
        self.version = 0
        self.views: list[weakref.ref[Tensor]] | None = None
        self.pending: Any = None
        self._prune_at = 32

    def add_view(self, view: Tensor) -> None:
        """Remember a view, so that in-place autograd can refresh its history."""
        views = self.views
        if views is None:
            views = self.views = []
        if len(views) >= self._prune_at:
            views[:] = [r for r in views if r() is not None]
            self._prune_at = max(32, 2 * len(views))
        views.append(weakref.ref(view))

    def live_views(self) -> list[Tensor]:
        """The views that still exist."""
        return [v for r in self.views or () if (v := r()) is not None]

    def shows(self, other: Storage) -> bool:
        """Whether both are the same memory, as that of a tensor and of its ``data`` is."""
        return self is other or (self.memory is not None and self.memory is other.memory)

    def settle(self) -> None:
        """Launch recorded work on this memory, if there is any."""
        if self.pending is not None:
            self.pending.flush()

    def data_ptr(self) -> int:
        """Address of the memory, as the backend counts addresses."""
        from .devices import row_of

        for flush in BEFORE_EXPORT:
            flush()
        self.settle()
        return row_of(self.device.type).runtime.data_ptr(self)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        from .pickling import reduced_storage

        return reduced_storage(self, protocol)

    def __deepcopy__(self, memo: dict[Any, Any]) -> Storage:
        from .pickling import copied_storage

        # By memory, which a tensor shares with its ``data``; what is not a number is nobody else's.
        key: Any = (Storage, id(self if self.memory is None else self.memory))
        if key not in memo:
            memo[key] = copied_storage(self)
        made: Storage = memo[key]
        return made

    def size(self) -> int:
        """Size in bytes."""
        return self.size_bytes

    nbytes = size

    def tolist(self) -> list[int]:
        """The bytes as numbers."""
        return list(bytes(self))

    def __bytes__(self) -> bytes:
        from .pickling import storage_bytes

        return bytes(storage_bytes(self))

    def __getitem__(self, at: Any) -> Any:
        return bytes(self)[at]

    def __len__(self) -> int:
        return self.size_bytes

    def __repr__(self) -> str:
        return f"<Storage of {self.size_bytes} bytes on {self.device}>"


class SharedStorage(Storage):
    """The memory of another storage, with a version counter of its own: that of ``x.data``.

    A pipeline that has recorded writes through one of them has them pending for both.
    """

    __slots__ = ("root",)

    def __init__(self, root: Storage) -> None:
        self.root: Storage = root.root if isinstance(root, SharedStorage) else root
        super().__init__(root.memory, root.size_bytes, root.device)

    @property
    def pending(self) -> Any:
        """The pipeline that has recorded writes to the memory."""
        return self.root.pending

    @pending.setter
    def pending(self, pipeline: Any) -> None:
        self.root.pending = pipeline


def _references(t: Any) -> int:
    return sys.getrefcount(t._storage)


class _Holder:
    """Stands for a tensor that alone refers to its storage."""

    def __init__(self) -> None:
        self._storage = object()


_ONCE: Final = _references(_Holder())


def held_once(t: Tensor, besides: int = 0) -> bool:
    """Whether nobody but the tensor refers to its storage.

    Args:
        t: the tensor.
        besides: how many references the caller holds itself.
    """
    return _references(t) <= _ONCE + besides
