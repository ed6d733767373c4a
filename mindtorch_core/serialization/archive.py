"""The container: a zip archive of one structure and the bytes of its storages, uncompressed."""

from __future__ import annotations

import os
import struct
import sys
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Final

from ..dispatch.calls.failures import out_of_memory
from .options import OPTIONS, LoadEndianness

if TYPE_CHECKING:
    from ..tensors.storage import Storage
    from . import Path

__all__ = ["Archive", "opened", "write"]

_ALIGNMENT: Final = 64  # so that a reader may map the bytes into memory
_CHUNK: Final = 1 << 20
_HEADER: Final = 30  # bytes of an entry's header before its name
_SIGNATURE: Final = b"PK\x03\x04"

# What `zipfile` raises for bytes that are no archive, or one of a kind it does not read.
_DAMAGE: Final = (
    zipfile.BadZipFile, EOFError, NotImplementedError, OverflowError, RuntimeError, ValueError,
    struct.error,
)  # fmt: skip


@contextmanager
def opened(f: Path | IO[bytes], mode: str) -> Iterator[IO[bytes]]:
    """A file given as a path or open already, which stays open then.

    Raises:
        OutOfMemoryError: if the host has not enough memory for what is done with it.
    """
    try:
        if isinstance(f, str | os.PathLike):
            with open(f, mode) as file:
                yield file
        else:
            needed = "write" if "w" in mode else "read"
            if not hasattr(f, needed):
                raise AttributeError(
                    f"expected a path or an object with {needed}(), got a {type(f).__name__}"
                )
            if getattr(f, "closed", False):
                raise ValueError(f"I/O operation on closed file: it must be open to {needed} it")
            yield f
    except (MemoryError, ValueError) as error:  # what cannot grow any more says it is closed
        short = _shortage(error)
        if short is None:
            raise
        raise out_of_memory("save" if "w" in mode else "load", short) from None


def _shortage(error: BaseException | None) -> MemoryError | None:
    """The error about memory while whose handling another one came up."""
    while error is not None and not isinstance(error, MemoryError):
        error = error.__context__
    return error


# ---- writing ------------------------------------------------------------------------------------


def write(structure: bytes, storages: Iterable[Storage], f: Path | IO[bytes]) -> None:
    """Write an archive.

    Whatever goes wrong, what is left is no archive: its list of entries is written last.

    Raises:
        RuntimeError: if there is no directory for it.
    """
    top = "archive"
    if isinstance(f, str | os.PathLike):
        top, parent = PurePath(f).stem, PurePath(f).parent
        if not os.path.isdir(parent):
            raise RuntimeError(f"Parent directory {parent} does not exist.")
    with opened(f, "wb") as file:
        archive = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
        try:
            _add(archive, f"{top}/data.pkl", structure)
            _add(archive, f"{top}/byteorder", sys.byteorder.encode())
            for number, storage in enumerate(storages):
                if OPTIONS.skips:
                    _add_zeros(archive, f"{top}/data/{number}", storage.size_bytes)
                else:
                    _add(archive, f"{top}/data/{number}", storage.host_bytes())
            _add(archive, f"{top}/version", b"3\n")
        except BaseException:
            archive.fp = None  # so that nobody, its finaliser either, completes it
            raise
        archive.close()


def _entry(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    start = getattr(archive, "start_dir", 0) + _HEADER + len(name.encode()) + 4
    gap = -start % _ALIGNMENT
    info.extra = b"FB" + struct.pack("<H", gap) + bytes(gap)
    return info


def _add(archive: zipfile.ZipFile, name: str, data: bytes | memoryview) -> None:
    archive.writestr(_entry(archive, name), data)


def _add_zeros(archive: zipfile.ZipFile, name: str, nbytes: int) -> None:
    info = _entry(archive, name)
    info.file_size = nbytes
    with archive.open(info, "w") as entry:
        for start in range(0, nbytes, _CHUNK):
            entry.write(bytes(min(_CHUNK, nbytes - start)))


# ---- reading ------------------------------------------------------------------------------------


class Archive:
    """An archive that is open for reading.

    Args:
        file: the file.
        mapping: the bytes of the file, if they are mapped into memory.

    Attributes:
        structure: the bytes that describe the object.
        byteorder: of the storages' elements, ``little`` or ``big``.

    Raises:
        RuntimeError: if it is damaged, or not written by `write` or PyTorch.
    """

    def __init__(self, file: IO[bytes], mapping: memoryview | None = None) -> None:
        self._file, self._mapping = file, mapping
        try:
            self._zip = zipfile.ZipFile(file)
        except _DAMAGE as error:
            raise RuntimeError(
                f"the file cannot be read: it is damaged or was not written to its end ({error})"
            ) from None
        entries = self._zip.infolist()
        file.seek(0, os.SEEK_END)
        end = file.tell()
        if not all(0 <= e.header_offset < end for e in entries):
            raise RuntimeError(
                "the file cannot be read: it is damaged, an entry lies outside of it"
            )
        if sum(e.file_size for e in entries) > end:
            raise RuntimeError(
                "the file cannot be read: its entries claim to be larger than the file"
            )
        self._entries = {e.filename: e for e in entries}
        for entry in entries:
            if not entry.CRC:  # PyTorch may leave the sum out; without it none is asked for
                del entry.CRC
        found = [name for name in self._entries if PurePath(name).name == "data.pkl"]
        if len(found) != 1 or found[0].count("/") != 1:
            raise RuntimeError(
                "the file is a zip archive, but holds no saved tensors: it has no */data.pkl"
            )
        self._top = found[0].removesuffix("data.pkl")
        if f"{self._top}constants.pkl" in self._entries:
            raise RuntimeError("the file holds a TorchScript program, which is not loaded here")
        self.byteorder = _byteorder(self.read("byteorder", b"").strip())
        self.structure = self.read("data.pkl")

    def read(self, name: str, default: bytes | None = None) -> bytes:
        """The bytes of an entry.

        Raises:
            RuntimeError: if it is missing, damaged or compressed.
        """
        if default is not None and self._top + name not in self._entries:
            return default
        entry = self._found(name)
        try:
            return self._zip.read(entry)
        except _DAMAGE as error:
            raise RuntimeError(f"the file is damaged at its entry {name!r}: {error}") from None

    def data(self, name: str) -> bytes | memoryview:
        """The bytes of an entry, of a mapped file where they lie in memory."""
        if self._mapping is None:
            return self.read(name)
        entry = self._found(name)
        at = entry.header_offset + _HEADER
        header = bytes(self._mapping[entry.header_offset : at])
        if len(header) < _HEADER or not header.startswith(_SIGNATURE):
            raise RuntimeError(f"the file is damaged at its entry {name!r}")
        names, extra = struct.unpack("<HH", header[-4:])
        start = at + names + extra
        return self._mapping[start : start + entry.file_size]

    def _found(self, name: str) -> zipfile.ZipInfo:
        entry = self._entries.get(self._top + name)
        if entry is None:
            raise RuntimeError(f"the file cannot be read: its entry {name!r} is missing")
        if entry.compress_type != zipfile.ZIP_STORED:
            raise RuntimeError(
                f"the file cannot be read: its entry {name!r} is compressed, which torch.save never does"
            )
        return entry


def _byteorder(said: bytes) -> str:
    """The order of bytes that a file says, or is taken to have.

    Raises:
        RuntimeError: if it says something else.
    """
    if said in (b"little", b"big"):
        return said.decode()
    if said:
        raise RuntimeError(f"the file is damaged: Unknown endianness type: {said!r}")
    wanted = OPTIONS.endianness
    return sys.byteorder if wanted in (None, LoadEndianness.NATIVE) else wanted.name.lower()


def is_archive(start: bytes) -> bool:
    """Whether a file that starts so is a zip archive."""
    return start.startswith(_SIGNATURE)
