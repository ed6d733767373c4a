"""The memory behind tensors: what views of one tensor share."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..values.devices import row_of
from ..values.dtypes import dtype
from ..values.references import if_counted

if TYPE_CHECKING:
    from ..values.devices import device
    from .tensor import Tensor

__all__ = ["BEFORE_EXPORT", "BEFORE_LOOK", "SharedStorage", "Storage", "held_alone", "held_once"]

# Called before memory is shown to code that mindtorch does not see (NumPy arrays, addresses), which
# may write to what recorded ops have still to read, and before the state of a generator or of a
# stream is looked at: recorded ops come first.
BEFORE_EXPORT: Final[list[Callable[[], None]]] = []
# Called with the storage whose values are about to be looked at, the dtype if it is a tensor that is
# looked at, and that tensor if nothing recorded was to give its values; empty unless somebody wants to know.
BEFORE_LOOK: Final[list[Callable[[Storage, dtype | None, Tensor | None], None]]] = []


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
        "_known_outside",
        "_mapping",
        "_prune_at",
        "device",
        "memory",
        "pending",
        "size_bytes",
        "version",
        "views",
    )

    _mapping: Any  # unset where there is none
    _known_outside: bool  # unset where it is not

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

    @property
    def root(self) -> Storage:
        """The storage whose memory this one shows: itself, or that of the tensor of a ``data``."""
        return self

    @property
    def mapping(self) -> Any:
        """The `Mapping` of the file or shared block that is the memory, if it is one."""
        return getattr(self.root, "_mapping", None)

    @mapping.setter
    def mapping(self, mapping: Any) -> None:
        self.root._mapping = mapping

    @property
    def replaceable(self) -> bool:
        """Whether other memory may take the place of this: not where others know it.

        They are files, other processes, and libraries such as NumPy, to which the memory was shown or
        whose it is: what they write would be lost, without a word.
        """
        return self.mapping is None and not hasattr(self.root, "_known_outside")

    def keep_memory(self) -> None:
        """Never give this storage other memory: another library knows it."""
        self.root._known_outside = True

    def settle(self) -> None:
        """Launch recorded work on this memory, if there is any."""
        if self.pending is not None:
            self.pending.flush_for(self)

    def data_ptr(self) -> int:
        """Address of the memory, as the backend counts addresses."""
        for flush in BEFORE_EXPORT:
            flush()
        self.settle()
        address: int = self._runtime().data_ptr(self)
        return address

    def _runtime(self) -> Any:
        """The device's, where there is memory or is to be none.

        Raises:
            RuntimeError: for the storage of a tensor whose class answers for elements that it has not.
        """
        runtime = row_of(self.device.type).runtime
        if self.memory is None and self.size_bytes and runtime.executes:
            raise RuntimeError("Attempted to access the data pointer on an invalid python storage.")
        return runtime

    def host_bytes(self) -> memoryview:
        """A copy of the bytes in host memory; empty for a device without data."""
        self.settle()
        for note in BEFORE_LOOK:
            note(self, None, None)
        runtime = self._runtime()
        if not runtime.executes or not self.size_bytes:
            return memoryview(b"")
        copied: memoryview = runtime.copy_to_host(self.memory, 0, self.size_bytes)
        return copied

    def size(self) -> int:
        """Size in bytes."""
        return self.size_bytes

    nbytes = __len__ = size

    if TYPE_CHECKING:  # what `frontend.storage_methods` attaches

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, at: Any) -> Any: ...
        def __bytes__(self) -> bytes: ...


class SharedStorage(Storage):
    """The memory of another storage, with a version counter of its own: that of ``x.data``.

    A pipeline that has recorded writes through one of them has them pending for both.
    """

    __slots__ = ("root",)

    def __init__(self, root: Storage) -> None:
        self.root: Storage = root.root if isinstance(root, SharedStorage) else root
        super().__init__(root.memory, root.size_bytes, root.device)
        if root.views is not None:  # what shows this memory may be laid out as a view
            self.views = []

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


_ONCE: Final = if_counted(_references(_Holder()))


def held_once(t: Tensor, besides: int) -> bool:
    """Whether nobody but the tensor refers to its storage.

    Args:
        t: the tensor.
        besides: how many references the caller holds itself.
    """
    return _references(t) <= _ONCE + besides


def held_alone(t: Any) -> bool:
    """Whether nobody but the tensor and the caller reaches its memory, through ``data`` either."""
    storage = t._storage
    if storage.live_views() or not held_once(t, 2):
        return False
    return storage.root is storage or sys.getrefcount(storage.root) <= _ONCE
