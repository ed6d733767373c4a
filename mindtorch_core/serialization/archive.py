"""The container: a zip archive of one structure and the bytes of its storages, uncompressed."""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import IO, Any, Final

from ..pickling import storage_bytes
from . import Path
from .writer import Writer

__all__ = ["Archive", "opened", "write"]

_ALIGNMENT: Final = 64  # so that a reader may map the bytes into memory
_HEADER: Final = 30  # bytes of an entry's header before its name
_SIGNATURE: Final = b"PK\x03\x04"

# What `zipfile` raises for bytes that are no archive, or one of a kind it does not read.
_DAMAGE: Final = (
    zipfile.BadZipFile, EOFError, NotImplementedError, OverflowError, RuntimeError, ValueError,
    struct.error,
)  # fmt: skip


@contextmanager
def opened(f: Path | IO[bytes], mode: str) -> Iterator[IO[bytes]]:
    """A file given as a path or open already, which stays open then."""
    if isinstance(f, str | os.PathLike):
        with open(f, mode) as file:
            yield file
    else:
        needed = "write" if "w" in mode else "read"
        if not hasattr(f, needed):
            raise AttributeError(
                f"expected a path or an object with {needed}(), got a {type(f).__name__}"
            )
        yield f


# ---- writing ------------------------------------------------------------------------------------


def write(obj: Any, f: Path | IO[bytes]) -> None:
    """Write an object; nothing is written if it cannot be saved."""
    writer = Writer()
    structure = writer.dump(obj)
    top = PurePath(f).stem if isinstance(f, str | os.PathLike) else "archive"
    with opened(f, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _add(archive, f"{top}/data.pkl", structure)
        _add(archive, f"{top}/byteorder", b"little")
        for number, storage in enumerate(writer.storages):
            _add(archive, f"{top}/data/{number}", storage_bytes(storage))
        _add(archive, f"{top}/version", b"3\n")


def _add(archive: zipfile.ZipFile, name: str, data: bytes | memoryview) -> None:
    info = zipfile.ZipInfo(name)
    start = getattr(archive, "start_dir", 0) + _HEADER + len(name.encode()) + 4
    gap = -start % _ALIGNMENT
    info.extra = b"FB" + struct.pack("<H", gap) + bytes(gap)
    archive.writestr(info, data)


# ---- reading ------------------------------------------------------------------------------------


class Archive:
    """An archive that is open for reading.

    Attributes:
        structure: the bytes that describe the object.

    Raises:
        RuntimeError: if it is damaged, or not written by `write` or PyTorch.
    """

    def __init__(self, file: IO[bytes]) -> None:
        try:
            self._zip = zipfile.ZipFile(file)
        except _DAMAGE as error:
            raise RuntimeError(
                f"the file cannot be read: it is damaged or was not written to its end ({error})"
            ) from error
        entries = self._zip.infolist()
        file.seek(0, os.SEEK_END)
        if sum(e.file_size for e in entries) > file.tell():
            raise RuntimeError(
                "the file cannot be read: its entries claim to be larger than the file"
            )
        self._entries = {e.filename: e for e in entries}
        found = [name for name in self._entries if PurePath(name).name == "data.pkl"]
        if len(found) != 1 or found[0].count("/") != 1:
            raise RuntimeError(
                "the file is a zip archive, but holds no saved tensors: it has no */data.pkl"
            )
        self._top = found[0].removesuffix("data.pkl")
        if f"{self._top}constants.pkl" in self._entries:
            raise RuntimeError("the file holds a TorchScript program, which is not loaded here")
        if self.read("byteorder", b"little").strip() != b"little":
            raise RuntimeError("the file was written on a machine with big-endian numbers")
        self.structure = self.read("data.pkl")

    def read(self, name: str, default: bytes | None = None) -> bytes:
        """The bytes of an entry.

        Raises:
            RuntimeError: if it is missing, damaged or compressed.
        """
        entry = self._entries.get(self._top + name)
        if entry is None:
            if default is not None:
                return default
            raise RuntimeError(f"the file cannot be read: its entry {name!r} is missing")
        if entry.compress_type != zipfile.ZIP_STORED:
            raise RuntimeError(
                f"the file cannot be read: its entry {name!r} is compressed, which torch.save never does"
            )
        try:
            return self._zip.read(entry)
        except _DAMAGE as error:
            raise RuntimeError(f"the file is damaged at its entry {name!r}: {error}") from error


def is_archive(start: bytes) -> bool:
    """Whether a file that starts so is a zip archive."""
    return start.startswith(_SIGNATURE)
