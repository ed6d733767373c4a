"""Files as PyTorch wrote them before version 1.6: pickles one after another, then the storages' bytes."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping
from typing import IO, TYPE_CHECKING, Any, Final

from ..tensors.storage import Storage
from ..values.devices import row_of
from .archive import opened
from .names import StorageType

if TYPE_CHECKING:
    from . import Path

__all__ = ["is_legacy", "load", "write"]

_MAGIC: Final = 0x1950A86A20F9469CFC6C
_VERSION: Final = 1001
_SYSTEM: Final = {
    "protocol_version": _VERSION,
    "little_endian": True,
    "type_sizes": {"short": 2, "int": 4, "long": 4},
}


def write(structure: bytes, storages: Iterable[tuple[Storage, int]], f: Path | IO[bytes]) -> None:
    """Write a file of this format.

    Args:
        structure: the pickle of the object.
        storages: by their number in it, each with the size of its elements.
        f: path, or file open for writing bytes.
    """
    held = list(storages)
    keys = [str(number) for number in range(len(held))]
    before = [pickle.dumps(part, 2) for part in (_MAGIC, _VERSION, _SYSTEM)]
    with opened(f, "wb") as file:
        file.write(b"".join((*before, structure, pickle.dumps(keys, 2))))
        for storage, itemsize in held:
            file.write((storage.size_bytes // itemsize).to_bytes(8, "little"))
            file.write(storage.host_bytes())


def is_legacy(start: bytes) -> bool:
    """Whether a file that starts so can be one."""
    return start[:1] == b"\x80" and _MAGIC.to_bytes(10, "little") in start


class _Parts:
    """A file's bytes, and how far they have been read."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        """The next bytes."""
        start, self.at = self.at, self.at + size
        if size < 0 or self.at > len(self.data):
            raise RuntimeError(
                "the file is damaged, or was not written to its end: bytes are missing"
            )
        return self.data[start : self.at]


def load(
    data: bytes,
    names: Mapping[str, Any],
    read: Callable[[bytes, Mapping[str, Any], Callable[..., Any]], tuple[Any, int]],
    restore: Callable[[None, int, str], Storage],
    typed: Callable[[Storage, StorageType], Any],
) -> Any:
    """Read a file of this format.

    Args:
        data: all of it.
        names: what the names in it stand for.
        read: makes of a pickle, names and storages what it holds, and says how long it is.
        restore: makes a storage of undefined bytes, of a size, for a device in the file.
        typed: makes of a storage what its type in the file stands for.

    Raises:
        RuntimeError: if it is damaged, or of another version.
    """
    parts, made = _Parts(data), {}

    def storage(kind: StorageType, key: str, location: str, count: int, view: Any = None) -> Any:
        if view is not None:
            raise RuntimeError(
                "the file holds parts of storages, as PyTorch wrote before version 0.4"
            )
        if key not in made:
            if count * kind.itemsize > len(data):
                raise RuntimeError(f"the file is damaged: storage {key} is larger than the file")
            made[key] = restore(None, count * kind.itemsize, location), kind
        return typed(made[key][0], kind)

    def next_value() -> Any:
        value, used = read(parts.data[parts.at :], names, storage)
        parts.at += used
        return value

    if (next_value(), next_value()) != (_MAGIC, _VERSION):
        raise RuntimeError("the file is of another version of the format before version 1.6")
    system = next_value()
    if not isinstance(system, dict) or not system.get("little_endian", True):
        raise RuntimeError("the file was written on a machine with big-endian numbers")
    result = next_value()
    keys = next_value()
    if not isinstance(keys, list | tuple):
        raise RuntimeError("the file is damaged: it does not say which storages follow")
    for key in keys:
        if not isinstance(key, str) or key not in made:
            raise pickle.UnpicklingError(f"refused to load: bytes of an unknown storage {key!r}")
        target, kind = made[key]
        count = int.from_bytes(parts.take(8), "little", signed=True)
        if count * kind.itemsize != target.size_bytes:
            raise RuntimeError(f"the file is damaged: storage {key} has {count} elements")
        content = parts.take(target.size_bytes)
        runtime = row_of(target.device.type).runtime
        if runtime.executes and content:
            runtime.copy_from_host(target.memory, 0, memoryview(content))
    return result
