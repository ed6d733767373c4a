"""``torch.distributed.checkpoint``: checkpoints that several processes write and read together."""

from __future__ import annotations

from typing import Any

from ....communication.checkpoint.errors import CheckpointException
from ....communication.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from ....communication.checkpoint.hugging_face import (
    HuggingFaceStorageReader,
    HuggingFaceStorageWriter,
)
from ....communication.checkpoint.metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    TensorStorageMetadata,
)
from ....communication.checkpoint.planners import DefaultLoadPlanner, DefaultSavePlanner
from ....communication.checkpoint.plans import (
    LoadPlan,
    LoadPlanner,
    ReadItem,
    SavePlan,
    SavePlanner,
    WriteItem,
)
from ....communication.checkpoint.storage import StorageReader, StorageWriter
from ...absent import names_of
from .optimizer import load_sharded_optimizer_state_dict
from .state_dict_loader import load, load_state_dict
from .state_dict_saver import async_save, save, save_state_dict

__all__ = [
    "BytesStorageMetadata",
    "CheckpointException",
    "ChunkStorageMetadata",
    "DefaultLoadPlanner",
    "DefaultSavePlanner",
    "FileSystemReader",
    "FileSystemWriter",
    "HuggingFaceStorageReader",
    "HuggingFaceStorageWriter",
    "LoadPlan",
    "LoadPlanner",
    "Metadata",
    "ReadItem",
    "SavePlan",
    "SavePlanner",
    "StorageReader",
    "StorageWriter",
    "TensorStorageMetadata",
    "WriteItem",
    "async_save",
    "load",
    "load_sharded_optimizer_state_dict",
    "load_state_dict",
    "save",
    "save_state_dict",
]

_absent = names_of(__name__)


def __getattr__(name: str) -> Any:
    return _absent(name)
