"""Plans: what each rank writes or reads, and the interfaces of those who make them."""

from __future__ import annotations

import io
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ...tensors.tensor import Tensor
from ...values.shapes import Size
from .metadata import (
    STATE_DICT_TYPE,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
)

__all__ = [
    "BytesIOWriteData",
    "LoadItemType",
    "LoadPlan",
    "LoadPlanner",
    "ReadItem",
    "SavePlan",
    "SavePlanner",
    "TensorWriteData",
    "WriteItem",
    "WriteItemType",
    "planner_of",
]


class WriteItemType(Enum):
    """A whole tensor, a part of one, or bytes."""

    TENSOR = 1
    SHARD = 2
    BYTE_IO = 3


class LoadItemType(Enum):
    """A box of a tensor, or bytes."""

    TENSOR = 1
    BYTE_IO = 2


@dataclass(frozen=True)
class BytesIOWriteData:
    """How many bytes an object has."""

    nbytes: int


@dataclass(frozen=True)
class TensorWriteData:
    """A box of a tensor, and the tensor's dtype and whole shape."""

    chunk: ChunkStorageMetadata
    properties: TensorProperties
    size: Size


@dataclass(frozen=True)
class WriteItem:
    """Something that a rank writes.

    Attributes:
        index: which value, and which box of it.
        type: what it is.
        bytes_io_data: of bytes, if their number is known.
        tensor_data: of tensors.
    """

    index: MetadataIndex
    type: WriteItemType
    bytes_io_data: BytesIOWriteData | None = None
    tensor_data: TensorWriteData | None = None

    def tensor_storage_size(self) -> int | None:
        """Bytes of the whole tensor; None for what is none."""
        if self.tensor_data is None:
            return None
        return math.prod(self.tensor_data.size) * self.tensor_data.properties.dtype.itemsize


@dataclass(frozen=True)
class ReadItem:
    """Something that a rank reads.

    Attributes:
        type: what it is.
        dest_index: the value of the state, and which box of it.
        dest_offsets: where in that box the elements go.
        storage_index: the value in the checkpoint, and which box of it.
        storage_offsets: where in that box they are.
        lengths: the shape of what is copied.
    """

    type: LoadItemType
    dest_index: MetadataIndex
    dest_offsets: Size
    storage_index: MetadataIndex
    storage_offsets: Size
    lengths: Size


@dataclass(frozen=True)
class SavePlan:
    """What one rank writes.

    Attributes:
        items: values and boxes.
        storage_data: the storage's own.
        planner_data: the planner's own.
        usable: False says: as the last time.
    """

    items: list[WriteItem]
    storage_data: Any = None
    planner_data: Any = None
    usable: bool = True


@dataclass
class LoadPlan:
    """What one rank reads.

    Attributes:
        items: values and boxes.
        storage_data: the storage's own.
        planner_data: the planner's own.
    """

    items: list[ReadItem]
    storage_data: Any = None
    planner_data: Any = None


class SavePlanner(ABC):
    """Says what is written of a state. `DefaultSavePlanner` is one; a class of yours may derive from it.

    All ranks call `set_up_planner` and `create_local_plan`; the first then calls `create_global_plan` with
    all plans; all call `finish_plan` with theirs, and `resolve_data` for each item, perhaps in threads.
    """

    @abstractmethod
    def set_up_planner(
        self,
        state_dict: STATE_DICT_TYPE,
        storage_meta: StorageMeta | None = None,
        is_coordinator: bool = False,
    ) -> None:
        """Take the state."""

    @abstractmethod
    def create_local_plan(self) -> SavePlan:
        """What this rank could write."""

    @abstractmethod
    def create_global_plan(self, all_plans: list[SavePlan]) -> tuple[list[SavePlan], Metadata]:
        """What each rank is to write, and what the checkpoint then holds; on the first rank."""

    @abstractmethod
    def finish_plan(self, new_plan: SavePlan) -> SavePlan:
        """What this rank writes."""

    @abstractmethod
    def resolve_data(self, write_item: WriteItem) -> Tensor | io.BytesIO:
        """The elements or bytes of an item; the same each time."""


class LoadPlanner(ABC):
    """Says what a state wants of a checkpoint. `DefaultLoadPlanner` is one.

    All ranks call `set_up_planner` and `create_local_plan`; the first then calls `create_global_plan`; all
    call `finish_plan`, and for each item `load_bytes`, or `resolve_tensor` and then `commit_tensor`.
    """

    @abstractmethod
    def set_up_planner(
        self,
        state_dict: STATE_DICT_TYPE,
        metadata: Metadata | None = None,
        is_coordinator: bool = False,
    ) -> None:
        """Take the state and what the checkpoint holds."""

    @abstractmethod
    def create_local_plan(self) -> LoadPlan:
        """What this rank reads."""

    @abstractmethod
    def create_global_plan(self, global_plan: list[LoadPlan]) -> list[LoadPlan]:
        """What each rank is to read; on the first rank."""

    @abstractmethod
    def finish_plan(self, central_plan: LoadPlan) -> LoadPlan:
        """What this rank reads in the end."""

    @abstractmethod
    def load_bytes(self, read_item: ReadItem, value: io.BytesIO) -> None:
        """Put an object into the state."""

    def resolve_bytes(self, read_item: ReadItem) -> io.BytesIO:
        """Where the bytes of an object go, for storages that ask for it.

        Raises:
            NotImplementedError: unless a class has it.
        """
        raise NotImplementedError("LoadPlanner.resolve_bytes is not implemented")

    @abstractmethod
    def resolve_tensor(self, read_item: ReadItem) -> Tensor:
        """Where the elements of an item go: memory of the state's, or other memory until `commit_tensor`."""

    @abstractmethod
    def commit_tensor(self, read_item: ReadItem, tensor: Tensor) -> None:
        """The elements are in what `resolve_tensor` gave."""


def planner_of(given: Any, kind: type[Any], usual: Callable[[], Any]) -> Any:
    """The planner that was given, or else the usual one.

    Raises:
        TypeError: if it cannot plan what ``kind`` does.
    """
    if given is not None and not isinstance(given, kind):
        raise TypeError(f"planner must be a {kind.__name__}, got {type(given).__name__}")
    return given or usual()
