"""``torch.distributed.checkpoint``: checkpoints that several processes write and read together."""

from __future__ import annotations

from typing import Any

from ....communication.checkpoint.errors import CheckpointException
from ....communication.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from ....communication.checkpoint.index import Metadata
from ....communication.checkpoint.loading import load, load_state_dict
from ....communication.checkpoint.planners import DefaultLoadPlanner, DefaultSavePlanner
from ....communication.checkpoint.saving import async_save, save, save_state_dict
from ...absent import names_of

__all__ = [
    "CheckpointException",
    "DefaultLoadPlanner",
    "DefaultSavePlanner",
    "FileSystemReader",
    "FileSystemWriter",
    "Metadata",
    "async_save",
    "load",
    "load_state_dict",
    "save",
    "save_state_dict",
]

_absent = names_of(__name__)


def __getattr__(name: str) -> Any:
    return _absent(name)
