"""`FileSystemWriter` and `FileSystemReader`: checkpoints in folders that all ranks see."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from ...dispatch.functions import fn
from ...serialization import load as load_objects
from ...serialization import safetensors
from ...serialization import save as save_objects
from ...tensors.tensor import Tensor
from ...values.dtypes import DTYPES
from .index import INDEX, Chunk, Metadata, read_index, write_index

__all__ = ["FileSystemReader", "FileSystemWriter", "storage_at"]


def crc(t: Tensor) -> int:
    """The checksum of a tensor's bytes, as they are written."""
    return zlib.crc32(t._host()) if t.nbytes else 0


class FileSystemWriter:
    """Writes checkpoints into a folder that all ranks see. The one before stays until the new one is whole.

    Args:
        path: the folder; it is made.
        single_file_per_rank: accepted: each rank writes one file of tensors.
        sync_files: whether files are on the disk before the checkpoint counts.
        thread_count: accepted; one thread writes.
        per_thread_copy_ahead: accepted.
        cache_staged_state_dict: accepted.
        overwrite: whether a checkpoint that is there may be replaced.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        single_file_per_rank: bool = True,
        sync_files: bool = True,
        thread_count: int = 1,
        per_thread_copy_ahead: int = 10_000_000,
        cache_staged_state_dict: bool = False,
        overwrite: bool = True,
    ) -> None:
        self.path = Path(path)
        self.sync_files = sync_files
        self.overwrite = overwrite

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """Write into another folder from now on."""
        if checkpoint_id:
            self.path = Path(checkpoint_id)

    def prepare(self) -> None:
        """Make the folder.

        Raises:
            RuntimeError: if it has a checkpoint that may not be replaced.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        if not self.overwrite and (self.path / INDEX).exists():
            raise RuntimeError(f"Checkpoint already exists in {self.path} and overwrite=False.")

    def write(
        self, name: str, tensors: list[tuple[Chunk, Tensor]], objects: Mapping[str, Any]
    ) -> dict[str, int]:
        """Write what a rank has to write.

        Args:
            name: of the files, without their ends.
            tensors: boxes, which are told their place.
            objects: by name.

        Returns:
            The sizes of the files.
        """
        sizes: dict[str, int] = {}
        if tensors:
            held: dict[str, Tensor] = {}
            keys: dict[Any, str] = {}  # of memory that is written
            storages: set[int] = set()
            for number, (chunk, t) in enumerate(tensors):
                plain = fn.view_as_real(t) if t.is_complex() else t
                plain = plain.detach().contiguous()
                storage = id(plain._own_storage())
                place = storage, plain.storage_offset(), tuple(plain.shape), plain.dtype
                chunk.file, chunk.crc32 = f"{name}.safetensors", crc(plain)
                chunk.key = keys.setdefault(place, f"{chunk.key}@{number}")
                if (
                    chunk.key not in held
                ):  # else it is another name of the same, as of a tied parameter
                    held[chunk.key] = plain.clone() if storage in storages else plain
                storages.add(storage)
            sizes[f"{name}.safetensors"] = self._file(
                f"{name}.safetensors", lambda file: safetensors.save_file(held, file)
            )
        if objects:
            sizes[f"{name}.objects"] = self._file(
                f"{name}.objects", lambda file: save_objects(dict(objects), file)
            )
        return sizes

    def _file(self, name: str, write: Any) -> int:
        part = self.path / f"{name}.part"
        with part.open("wb") as file:
            write(file)
            file.flush()
            if self.sync_files:
                os.fsync(file.fileno())
            size = file.seek(0, os.SEEK_END)
        part.replace(self.path / name)
        return size

    def finish(self, found: Metadata) -> None:
        """Have files be the folder's checkpoint."""
        write_index(self.path, found, sync=self.sync_files)


class FileSystemReader:
    """Reads checkpoints from a folder that all ranks see.

    Args:
        path: the folder.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """Read from another folder from now on."""
        if checkpoint_id:
            self.path = Path(checkpoint_id)

    def read_metadata(self) -> Metadata:
        """What the checkpoint holds.

        Raises:
            FileNotFoundError: if there is none, or files are missing.
            RuntimeError: if it is damaged.
        """
        return read_index(self.path)

    def read(self, chunks: list[tuple[Chunk, str]]) -> Iterator[tuple[int, Tensor]]:
        """Boxes of tensors, in the order of files.

        Args:
            chunks: with the names of dtypes.

        Yields:
            The number of a box, and its elements.

        Raises:
            RuntimeError: if a file is damaged.
        """
        by_file: dict[str, dict[str, list[int]]] = {}
        for number, (chunk, _) in enumerate(chunks):
            by_file.setdefault(chunk.file, {}).setdefault(chunk.key, []).append(number)
        for name, keys in by_file.items():
            path = self.path / name
            try:
                for key, t, data in safetensors.read_tensors(path, names=keys):
                    chunk, dtype = chunks[keys[key][0]]
                    if zlib.crc32(data) != chunk.crc32:
                        raise RuntimeError(f"the bytes of {key!r} are not those that were written")
                    found = fn.view_as_complex(t) if DTYPES[dtype].is_complex else t
                    for number in keys[key]:
                        yield number, found
            except RuntimeError as error:
                raise RuntimeError(f"{path} is damaged: {error}") from error

    def read_objects(self, name: str) -> dict[str, Any]:
        """The objects in a file.

        Raises:
            RuntimeError: if it is damaged.
        """
        try:
            found: dict[str, Any] = load_objects(self.path / name, map_location="cpu")
        except RuntimeError as error:
            raise RuntimeError(f"{self.path / name} is damaged: {error}") from error
        return found


_Storage = TypeVar("_Storage", FileSystemReader, FileSystemWriter)
# What PyTorch's classes have that these have not: nobody would call what a subclass makes of it.
_OF_PYTORCH: Final = (
    "create_local_plan", "prepare_global_plan", "prepare_local_plan", "read_data",
    "set_up_storage_reader", "set_up_storage_writer", "stage", "storage_meta", "write_data",
)  # fmt: skip


def storage_at(
    kind: type[_Storage], given: Any, checkpoint_id: str | os.PathLike[str] | None
) -> _Storage:
    """The reader or writer that was given, or else one of a folder.

    Raises:
        NotImplementedError: if it is written for PyTorch's plans, which there are none of.
        RuntimeError: if nothing says where.
        TypeError: for storages of another kind.
    """
    name = "storage_reader" if kind is FileSystemReader else "storage_writer"
    if given is None:
        if not checkpoint_id:
            raise RuntimeError(
                f"Cannot infer the storage: give checkpoint_id, the path of a folder, or a {name}"
            )
        return kind(checkpoint_id)
    if not isinstance(given, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, got {type(given).__name__}")
    if unheard := [each for each in _OF_PYTORCH if hasattr(given, each)]:
        own = (
            "read_metadata, read and read_objects"
            if kind is FileSystemReader
            else "write and finish"
        )
        raise NotImplementedError(
            f"{type(given).__name__} has {', '.join(unheard)}, which nobody calls: a {kind.__name__} of "
            f"mindtorch has no plans. Override {own} instead"
        )
    given.reset(checkpoint_id)
    return given
