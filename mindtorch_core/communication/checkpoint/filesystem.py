"""`FileSystemWriter` and `FileSystemReader`: checkpoints in folders that all ranks see."""

from __future__ import annotations

import os
import secrets
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from ...autograd.graph import increment_version
from ...dispatch.functions import fn
from ...gradients.grad_mode import no_grad
from ...serialization import safetensors
from ...serialization import save as save_object
from ...tensors.tensor import Tensor
from ..futures import Future
from .boxes import part
from .index import INDEX, Place, are_paths, read_index, remove_leftovers, write_index
from .metadata import Metadata, MetadataIndex, StorageMeta, TensorStorageMetadata
from .plans import LoadItemType, LoadPlan, LoadPlanner, ReadItem, SavePlan, SavePlanner, WriteItem
from .staging import BlockingAsyncStager
from .storage import Id, StorageReader, StorageWriter, WriteResult

__all__ = ["FileSystemReader", "FileSystemWriter"]


class FileSystemWriter(BlockingAsyncStager, StorageWriter):
    """Writes checkpoints into a folder that all ranks see. The one before stays until the new one is whole.

    Args:
        path: the folder; it is made.
        single_file_per_rank: accepted: each rank writes one file of tensors.
        sync_files: whether files are on the disk before the checkpoint counts.
        thread_count: accepted; one thread writes.
        per_thread_copy_ahead: accepted.
        cache_staged_state_dict: whether `async_save` copies into the same memory each time.
        overwrite: whether a checkpoint that is there may be replaced.
        **options: others of PyTorch's, taken and ignored.
    """

    def __init__(
        self,
        path: Id,
        single_file_per_rank: bool = True,
        sync_files: bool = True,
        thread_count: int = 1,
        per_thread_copy_ahead: int = 10_000_000,
        cache_staged_state_dict: bool = False,
        overwrite: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(cache_staged_state_dict=cache_staged_state_dict)
        self.path = Path(path)
        self.sync_files = sync_files
        self.overwrite = overwrite
        self._save = secrets.token_hex(8)

    @property
    def checkpoint_id(self) -> Id:
        """The folder."""
        return self.path

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: Id) -> bool:
        """Whether it is a path, and not the address of something else."""
        return "://" not in str(checkpoint_id)

    def storage_meta(self) -> StorageMeta:
        """The folder and the name of the save."""
        return StorageMeta(checkpoint_id=self.path, save_id=self._save)

    # ---- plans ----------------------------------------------------------------------------------

    def reset(self, checkpoint_id: Id | None = None) -> None:
        """Write another checkpoint, into another folder if one is given."""
        if checkpoint_id:
            self.path = Path(checkpoint_id)
        self._save = secrets.token_hex(8)

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """See `StorageWriter`."""

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """Make the folder.

        Raises:
            RuntimeError: if it has a checkpoint that may not be replaced.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        if not self.overwrite and (self.path / INDEX).exists():
            raise RuntimeError(f"Checkpoint already exists in {self.path} and overwrite=False.")
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """Name the files of each rank, and make room: what saves that have failed have left goes."""
        remove_leftovers(self.path)
        return [
            replace(plan, storage_data=f"{self._save}-{rank:05}") for rank, plan in enumerate(plans)
        ]

    # ---- data -----------------------------------------------------------------------------------

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        """Write a file of tensors and one of objects, if there are any."""
        tensors: list[tuple[WriteItem, Tensor]] = []
        objects: list[tuple[WriteItem, bytes | memoryview]] = []
        for item in plan.items:
            value = planner.resolve_data(item)
            if isinstance(value, Tensor):
                tensors.append((item, value))
            else:
                objects.append((item, value.getbuffer()))
        results: list[WriteResult] = []
        if tensors:
            results += self._write_tensors(f"{plan.storage_data}.safetensors", tensors)
        if objects:
            results += self._write_objects(f"{plan.storage_data}.objects", objects)
        found: Future[list[WriteResult]] = Future()
        found.set_result(results)
        return found

    def _write_tensors(
        self, name: str, tensors: Sequence[tuple[WriteItem, Tensor]]
    ) -> Iterator[WriteResult]:
        held: dict[str, Tensor] = {}
        checksums: dict[str, int] = {}
        keys: dict[Any, str] = {}  # of memory that is written
        storages: set[int] = set()
        chosen: list[tuple[MetadataIndex, str]] = []
        for number, (item, t) in enumerate(tensors):
            plain = fn.view_as_real(t) if t.is_complex() else t
            plain = plain.detach().contiguous()
            storage = id(plain._own_storage())
            place = storage, plain.storage_offset(), tuple(plain.shape), plain.dtype
            key = keys.setdefault(place, f"{item.index.fqn}@{number}")
            if key not in held:  # else it is another name of the same, as of a tied parameter
                held[key] = plain.clone() if storage in storages else plain
                checksums[key] = _crc(held[key])
            storages.add(storage)
            chosen.append((item.index, key))
        whole = self._file(name, lambda file: safetensors.save_file(held, file))
        for index, key in chosen:
            yield WriteResult(
                index, held[key].nbytes, Place(name, checksums[key], key, whole=whole)
            )

    def _write_objects(
        self, name: str, objects: Sequence[tuple[WriteItem, bytes | memoryview]]
    ) -> Iterator[WriteResult]:
        whole = self._file(name, lambda file: file.writelines(data for _, data in objects))
        start = 0
        for item, data in objects:
            size = len(data)
            place = Place(name, zlib.crc32(data), start=start, size=size, whole=whole)
            yield WriteResult(item.index, size, place)
            start += size

    def _file(
        self, name: str, write: Callable[[IO[bytes]], object], folder: Path | None = None
    ) -> int:
        """Write a file, under another name until it is whole; its size. What fails leaves none."""
        folder = folder or self.path
        unfinished = folder / f"{name}.part"
        try:
            with unfinished.open("wb") as file:
                write(file)
                file.flush()
                if self.sync_files:
                    os.fsync(file.fileno())
                size = file.seek(0, os.SEEK_END)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        unfinished.replace(folder / name)
        return size

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """Have files be the folder's checkpoint."""
        places = {each.index: each.storage_data for rank in results for each in rank}
        about = self.storage_meta()
        metadata.storage_data, metadata.storage_meta = places, about
        planner: dict[str, int] = {}
        if not are_paths(metadata.planner_data):
            name = f"{self._save}-planner"
            planner[name] = self._file(name, lambda f: save_object(metadata.planner_data, f))
        write_index(self.path, metadata, sync=self.sync_files, planner=planner)
        self._save = secrets.token_hex(8)  # of the next one


class FileSystemReader(StorageReader):
    """Reads checkpoints from a folder that all ranks see.

    Args:
        path: the folder.
        **options: others of PyTorch's, taken and ignored.
    """

    def __init__(self, path: Id, **options: Any) -> None:
        self.path = Path(path)
        self.storage_data: Mapping[MetadataIndex, Place] = {}
        self._values: Mapping[str, Any] = {}

    @property
    def checkpoint_id(self) -> Id:
        """The folder."""
        return self.path

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: Id) -> bool:
        """Whether it is a path, and not the address of something else."""
        return "://" not in str(checkpoint_id)

    def reset(self, checkpoint_id: Id | None = None) -> None:
        """Read from another folder from now on."""
        if checkpoint_id:
            self.path = Path(checkpoint_id)

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """What the checkpoint holds.

        Raises:
            FileNotFoundError: if there is none, or files are missing.
            RuntimeError: if it is damaged.
        """
        return read_index(self.path)

    def set_up_storage_reader(
        self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any
    ) -> None:
        """See `StorageReader`."""
        self.storage_data = metadata.storage_data
        self._values = metadata.state_dict_metadata

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """The plan as it is."""
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """The plans as they are."""
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Read what is wanted, file by file, each tensor once.

        Raises:
            RuntimeError: if a file is damaged.
        """
        by_file: dict[str, list[tuple[ReadItem, Place]]] = {}
        for item in plan.items:
            place = self.storage_data[item.storage_index]
            by_file.setdefault(place.file, []).append((item, place))
        for name, wanted in by_file.items():
            path = self.path / name
            try:
                objects = [each for each in wanted if each[0].type is LoadItemType.BYTE_IO]
                for item, data in self._objects(path, objects):
                    planner.load_bytes(item, BytesIO(data))
                if len(objects) < len(wanted):
                    self._tensors(path, wanted, planner)
            except RuntimeError as error:
                raise RuntimeError(f"{path} is damaged: {error}") from error
        found: Future[None] = Future()
        found.set_result(None)
        return found

    @staticmethod
    def _objects(
        path: Path, wanted: Sequence[tuple[ReadItem, Place]]
    ) -> Iterator[tuple[ReadItem, bytes]]:
        with path.open("rb") as file:
            for item, place in wanted:
                file.seek(place.start)
                data = file.read(place.size)
                _check(data, place, item.storage_index.fqn)
                yield item, data

    def _tensors(
        self, path: Path, wanted: Sequence[tuple[ReadItem, Place]], planner: LoadPlanner
    ) -> None:
        keys: dict[str, list[tuple[ReadItem, Place]]] = {}
        for item, place in wanted:
            keys.setdefault(place.key, []).append((item, place))
        targets: dict[str, Tensor] = {}

        def into(key: str) -> Tensor:
            item, _ = keys[key][0]
            targets[key] = planner.resolve_tensor(item).detach()
            return targets[key]

        alone = {key for key, wanted in keys.items() if len(wanted) == 1}
        with no_grad():
            for key, t, data in safetensors.read_tensors(
                path, names=keys, into=lambda key: into(key) if key in alone else None
            ):
                _check(data, keys[key][0][1], key)
                for item, _ in keys[key]:
                    target = targets.get(key)
                    if target is None:
                        target = planner.resolve_tensor(item).detach()
                    if t is target:
                        increment_version(target)
                    else:
                        entry: TensorStorageMetadata = self._values[item.storage_index.fqn]
                        found = fn.view_as_complex(t) if entry.properties.dtype.is_complex else t
                        target.copy_(part(found, item.storage_offsets, item.lengths))
                    planner.commit_tensor(item, target)


def _crc(t: Tensor) -> int:
    """The checksum of a tensor's bytes, as they are written."""
    return zlib.crc32(safetensors.memory_of(t) or t._host()) if t.nbytes else 0


def _check(data: bytes | memoryview, place: Place, name: str) -> None:
    if zlib.crc32(data) != place.crc32:
        raise RuntimeError(f"the bytes of {name!r} are not those that were written")
