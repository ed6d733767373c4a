"""`StorageWriter` and `StorageReader`: the interfaces of where checkpoints lie."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..futures import Future
from .metadata import Metadata, MetadataIndex, StorageMeta
from .plans import LoadPlan, LoadPlanner, SavePlan, SavePlanner

__all__ = ["StorageReader", "StorageWriter", "WriteResult", "storage_at"]

Id = str | os.PathLike[str]


@dataclass(frozen=True)
class WriteResult:
    """What was written of an item.

    Attributes:
        index: which value or box.
        size_in_bytes: of it.
        storage_data: the storage's own: where it is.
    """

    index: MetadataIndex
    size_in_bytes: int
    storage_data: Any


class StorageWriter(ABC):
    """Writes checkpoints. All ranks call all, but for `prepare_global_plan` and `finish`: the first alone.

    The order is that of the methods here; `storage_meta` is asked first.
    """

    @abstractmethod
    def reset(self, checkpoint_id: Id | None = None) -> None:
        """A new checkpoint begins, perhaps at another place."""

    @abstractmethod
    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """Hear whether this rank is the first."""

    @abstractmethod
    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """See the plan of this rank, or change it."""

    @abstractmethod
    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """See the plans of all ranks, or change them."""

    @abstractmethod
    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        """Write the items of a plan, whose data `SavePlanner.resolve_data` has."""

    @abstractmethod
    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """Have what all ranks have written be the checkpoint."""

    @classmethod
    @abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id: Id) -> bool:
        """Whether a place is one for this storage."""

    def storage_meta(self) -> StorageMeta | None:
        """What it says of itself."""
        return None


class StorageReader(ABC):
    """Reads checkpoints. All ranks call all, but for `prepare_global_plan`: the first alone."""

    @abstractmethod
    def reset(self, checkpoint_id: Id | None = None) -> None:
        """A checkpoint is read, perhaps at another place."""

    @abstractmethod
    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """What the checkpoint holds."""

    @abstractmethod
    def set_up_storage_reader(
        self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any
    ) -> None:
        """Take that, and hear whether this rank is the first."""

    @abstractmethod
    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """See the plan of this rank, or change it."""

    @abstractmethod
    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """See the plans of all ranks, or change them."""

    @abstractmethod
    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Read the items of a plan; `LoadPlanner` takes them."""

    @classmethod
    @abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id: Id) -> bool:
        """Whether a place is one of this storage."""


def storage_at(
    given: Any, checkpoint_id: Id | None, kind: type[Any], usual: Callable[[Id], Any], name: str
) -> Any:
    """The storage that was given, or else the usual one of a folder.

    Args:
        given: a storage, or None.
        checkpoint_id: the place of the checkpoint, if it was said.
        kind: of which class it has to be.
        usual: makes one of a folder.
        name: how the argument is called.

    Raises:
        RuntimeError: if nothing says where.
        TypeError: if it is none.
    """
    if given is None:
        if not checkpoint_id:
            raise RuntimeError(
                f"Cannot infer the storage: give checkpoint_id, the path of a folder, or a {name}"
            )
        return usual(checkpoint_id)
    if not isinstance(given, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, got {type(given).__name__}")
    if checkpoint_id is not None:
        given.reset(checkpoint_id)
    return given
