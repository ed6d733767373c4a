"""Page-locked memory of the host, which an accelerator's runtime supplies: ``t.pin_memory()``."""

from __future__ import annotations

from ..tensors.storage import Storage
from ..values.devices import accelerator_type, concrete, device, row_of
from .storages import storage_over

__all__ = ["is_pinned", "pinned"]


class _Pinned:
    """What a storage of page-locked memory says of it, in the place of a file's mapping.

    Attributes:
        kind: the type of device that has locked it.
    """

    shared, filename, fd = False, None, None

    def __init__(self, kind: str) -> None:
        self.kind = kind


def _accelerator(wanted: device | str | None) -> str:
    """The type of device that memory is locked for.

    Raises:
        RuntimeError: if there is none.
    """
    if wanted is None:
        return accelerator_type()
    return concrete(wanted).type


def pinned(storage: Storage, wanted: device | str | None = None) -> Storage:
    """A copy of a storage in page-locked memory; itself if it is there, or if the accelerator is the host.

    Raises:
        RuntimeError: if no accelerator is there, it has no such memory, or the storage is not on the
            CPU.
    """
    if storage.device.type != "cpu":
        raise RuntimeError(
            f"cannot pin memory of {storage.device}: only dense CPU tensors can be pinned"
        )
    kind = _accelerator(wanted)
    if is_pinned(storage, kind) or (wanted is None and kind == "cpu"):
        return storage
    data = row_of(kind).runtime.pinned(max(storage.size_bytes, 1))
    if data is None:
        raise RuntimeError(
            f"Need to provide pin_memory allocator to use pin memory: the {kind} backend supplies no "
            f"page-locked memory"
        )
    data = data[: storage.size_bytes]
    data[:] = storage.host_bytes()
    made = storage_over(data)
    made.mapping = _Pinned(kind)
    return made


def is_pinned(storage: Storage, wanted: device | str | None = None) -> bool:
    """Whether a storage is page-locked, for a type of device if one is given."""
    kind = getattr(storage.mapping, "kind", None)
    return kind is not None and (wanted is None or device(wanted).type == kind)
