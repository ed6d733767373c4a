"""`HuggingFaceStorageWriter` and `HuggingFaceStorageReader`: checkpoints as other libraries read models.

They are folders of safetensors files, with an index of those of whole tensors. Files that ranks write for
themselves say where in its tensor each part begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from ...dispatch.functions import fn
from ...gradients.grad_mode import no_grad
from ...serialization import safetensors
from ...tensors.tensor import Tensor
from ...values.shapes import Size, numel
from ..futures import Future
from .boxes import part
from .filesystem import FileSystemReader, FileSystemWriter
from .metadata import (
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
)
from .plans import LoadPlan, LoadPlanner, ReadItem, SavePlan, SavePlanner
from .storage import Id, WriteResult

__all__ = ["HuggingFaceStorageReader", "HuggingFaceStorageWriter"]

_INDEX: Final = "model.safetensors.index.json"
_PARTS: Final = "DCP_SHARDING_INFO"
_BEGINS: Final = "saved_offsets"
_FOLDER: Final = "sharded"  # of parts, inside that of the whole tensors
_OURS: Final = re.compile(r"(shard-\d{5}-)?model-\d{5}-of-\d{5}\.safetensors")


class HuggingFaceStorageWriter(FileSystemWriter):
    """Writes a state of tensors into safetensors files that other libraries read.

    The names of the files are always the same, so that a save that fails may leave some of the one before:
    checkpoints to go on from are safer with `FileSystemWriter`.

    Args:
        path: the folder; it is made.
        fqn_to_index_mapping: by a tensor's name, into which file it goes, counted from 1; None: all into one.
        thread_count: accepted; one thread writes.
        save_distributed: whether each rank writes files of its own. Otherwise only one may have tensors, such
            as with ``no_dist=True``.
        enable_consolidation: whether the first rank then makes whole tensors of these files, which are in
            ``sharded`` inside the folder.
        thread_count_consolidation: accepted.
    """

    def __init__(
        self,
        path: Id,
        fqn_to_index_mapping: Mapping[str, int] | None = None,
        thread_count: int = 1,
        save_distributed: bool = False,
        enable_consolidation: bool = False,
        thread_count_consolidation: int = 1,
    ) -> None:
        super().__init__(path)
        self.fqn_to_index_mapping = fqn_to_index_mapping
        self.save_distributed = save_distributed
        self.enable_consolidation = enable_consolidation
        self.reset(path)

    def reset(self, checkpoint_id: Id | None = None) -> None:
        """Write another checkpoint, into another folder if one is given."""
        if checkpoint_id:
            self._whole = Path(checkpoint_id)
        super().reset(self._whole / _FOLDER if self._joins else self._whole)

    @property
    def _joins(self) -> bool:
        return self.save_distributed and self.enable_consolidation

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """Number the ranks.

        Raises:
            ValueError: if several have tensors, and each was not to write its own files.
        """
        count = sum(bool(plan.items) for plan in plans)
        if count > 1 and not self.save_distributed:
            raise ValueError(
                f"{count} ranks have tensors to write: pass save_distributed=True, or save a whole state on "
                f"one rank with no_dist=True"
            )
        return [replace(plan, storage_data=rank) for rank, plan in enumerate(plans, 1)]

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        """Write this rank's files.

        Raises:
            TypeError: for what is no tensor.
            ValueError: if the mapping lacks a name, or a rank has several parts of a tensor.
        """
        files: dict[str, list[tuple[MetadataIndex, Tensor]]] = {}
        for item in plan.items:
            value, name = planner.resolve_data(item), item.index.fqn
            if not isinstance(value, Tensor):
                raise TypeError(f"{name} is no tensor, and safetensors files hold nothing else")
            own = files.setdefault(self._file_of(name, plan.storage_data), [])
            if any(index.fqn == name for index, _ in own):
                raise ValueError(
                    f"this rank has several parts of {name}: a file holds one by a name"
                )
            own.append((item.index, value))
        results = []
        for file, tensors in files.items():
            starts = {index.fqn: {_BEGINS: [*(index.offset or ())]} for index, _ in tensors}
            about = {"format": "pt", "DCP_VERSION": "1.0", _PARTS: json.dumps(starts)}
            held = _apart((index.fqn, t) for index, t in tensors)
            self._file(file, partial(safetensors.save_file, held, metadata=about))
            results += [WriteResult(index, held[index.fqn].nbytes, file) for index, _ in tensors]
        found: Future[list[WriteResult]] = Future()
        found.set_result(results)
        return found

    def _file_of(self, name: str, rank: int | None = None) -> str:
        """The file that a tensor goes into: a rank's, or that of whole tensors."""
        numbers = self.fqn_to_index_mapping
        if numbers is not None and name not in numbers:
            raise ValueError(f"fqn_to_index_mapping does not say into which file {name} goes")
        number, count = (1, 1) if numbers is None else (numbers[name], max(numbers.values()))
        shard = f"shard-{rank:05}-" if rank is not None and self.save_distributed else ""
        return f"{shard}model-{number:05}-of-{count:05}.safetensors"

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """Write the index, or join the parts; files of an earlier save that are left go."""
        files = {each.index.fqn: each.storage_data for rank in results for each in rank}
        _clear(self.path, {each.storage_data for rank in results for each in rank})
        (self.path / _INDEX).unlink(missing_ok=True)
        size = sum(each.size_in_bytes for rank in results for each in rank)
        if self._joins:
            reader = HuggingFaceStorageReader(self.path)
            reader.read_metadata()
            files, size = self.join(reader, files)
            _clear(self._whole, set(files.values()))
        if self._joins or not self.save_distributed:
            self.write_index(files, size)
        self.reset()

    def join(
        self, reader: HuggingFaceStorageReader, names: Iterable[str]
    ) -> tuple[dict[str, str], int]:
        """Make files of whole tensors; returns which is in which, and their bytes."""
        files = {name: self._file_of(name) for name in names}
        size = 0
        for file in sorted(set(files.values())):
            held = {name: reader.whole(name) for name, own in files.items() if own == file}
            size += sum(t.nbytes for t in held.values())
            about = {"format": "pt"}
            self._file(file, partial(safetensors.save_file, held, metadata=about), self._whole)
        return files, size

    def write_index(self, files: Mapping[str, str], size: int) -> None:
        """Write the index of whole tensors."""
        about = {"metadata": {"total_size": size}, "weight_map": files}
        text = json.dumps(about, indent=2).encode()
        self._file(_INDEX, lambda file: file.write(text), self._whole)


def _apart(tensors: Iterable[tuple[str, Tensor]]) -> dict[str, Tensor]:
    """Tensors that share no memory, which a file cannot say."""
    held: dict[str, Tensor] = {}
    storages: set[int] = set()
    for name, t in tensors:
        plain = t.detach().contiguous()
        storage = id(plain._own_storage())
        held[name] = plain.clone() if storage in storages else plain
        storages.add(storage)
    return held


def _clear(folder: Path, written: set[str]) -> None:
    """Remove files that an earlier save of more ranks or files has left: a reader would take them too."""
    for path in folder.iterdir():
        if _OURS.fullmatch(path.name) and path.name not in written:
            path.unlink()


class HuggingFaceStorageReader(FileSystemReader):
    """Reads a state from a folder of safetensors files: whole tensors, or parts that ranks have written.

    Args:
        path: the folder.
        thread_count: accepted; one thread reads.
    """

    def __init__(self, path: Id, thread_count: int = 1) -> None:
        super().__init__(path)
        self._found: dict[str, TensorStorageMetadata] = {}

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """What the files hold.

        Raises:
            FileNotFoundError: if there is none, or one is missing that the index names.
            RuntimeError: if a file is damaged, or a tensor is there in part only, or twice.
        """
        found: dict[str, TensorStorageMetadata] = {}
        places: dict[MetadataIndex, str] = {}
        for path in self._files():
            starts = _starts(path)
            for name, (d, shape) in safetensors.load_shapes(path).items():
                begins = starts.get(name, {}).get(_BEGINS) or [0] * len(shape)
                index = MetadataIndex(name, begins)
                if index in places:
                    raise RuntimeError(f"{name} is in {places[index]} and in {path.name}")
                places[index] = path.name
                chunk = ChunkStorageMetadata(Size(begins), Size(shape))
                entry = found.setdefault(
                    name, TensorStorageMetadata(TensorProperties(d), Size([0] * len(shape)), [])
                )
                ends = [a + n for a, n in zip(begins, shape, strict=True)]
                entry.size = Size(map(max, entry.size, ends))
                entry.chunks.append(chunk)
        for name, entry in found.items():
            there = sum(numel(tuple(chunk.sizes)) for chunk in entry.chunks)
            if there != numel(tuple(entry.size)):
                raise RuntimeError(
                    f"of {name}, {[*entry.size]}, there are {there} elements: a file is missing, or of "
                    f"another save"
                )
        self._found, self.storage_data = found, places  # type: ignore[assignment]
        return Metadata(
            {**found}, storage_data=places, storage_meta=StorageMeta(checkpoint_id=self.path)
        )

    def _files(self) -> Sequence[Path]:
        """Those that the index names; without one, all."""
        index = self.path / _INDEX
        if index.exists():
            named = json.loads(index.read_text())["weight_map"].values()
            files = [self.path / name for name in sorted(set(named))]
        else:
            files = sorted(self.path.glob("*.safetensors"))
        missing = [path.name for path in files if not path.exists()]
        if missing or not files:
            what = f"has no {', '.join(missing)}" if missing else "has no safetensors files"
            raise FileNotFoundError(f"{self.path} {what}")
        return files

    def whole(self, name: str) -> Tensor:
        """A tensor, put together from its parts."""
        entry = self._found[name]
        made: Tensor = fn.empty(tuple(entry.size), dtype=entry.properties.dtype, device="cpu")
        for chunk in entry.chunks:
            file: Any = self.storage_data[MetadataIndex(name, chunk.offsets)]
            for _, t, _ in safetensors.read_tensors(self.path / file, names=[name]):
                part(made, chunk.offsets, chunk.sizes).copy_(t)
        return made

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Read what is wanted, file by file, each tensor once.

        Raises:
            RuntimeError: if a file is damaged.
        """
        files: dict[str, dict[str, list[ReadItem]]] = {}
        for item in plan.items:
            file: Any = self.storage_data[item.storage_index]
            files.setdefault(file, {}).setdefault(item.storage_index.fqn, []).append(item)
        with no_grad():
            for file, wanted in files.items():
                for name, t, _ in safetensors.read_tensors(self.path / file, names=wanted):
                    for item in wanted[name]:
                        target = planner.resolve_tensor(item).detach()
                        target.copy_(part(t, item.storage_offsets, item.lengths))
                        planner.commit_tensor(item, target)
        found: Future[None] = Future()
        found.set_result(None)
        return found


def _starts(path: Path) -> Mapping[str, Any]:
    """Where the tensors of a file begin, if they are parts."""
    try:
        found: Mapping[str, Any] = json.loads(safetensors.load_metadata(path).get(_PARTS) or "{}")
    except ValueError as error:
        raise RuntimeError(f"{path} is damaged: {error}") from error
    return found
