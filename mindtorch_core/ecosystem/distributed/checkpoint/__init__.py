"""``torch.distributed.checkpoint``: checkpoints that several processes write and read together."""

from __future__ import annotations

from typing import Any

from ....communication.checkpoint.errors import CheckpointException
from ....communication.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from ....communication.checkpoint.index import Metadata
from ....communication.checkpoint.loading import load
from ....communication.checkpoint.loading import load_state_dict as _load_state_dict
from ....communication.checkpoint.planners import DefaultLoadPlanner, DefaultSavePlanner
from ....communication.checkpoint.saving import async_save, save
from ....communication.checkpoint.saving import save_state_dict as _save_state_dict
from ...absent import names_of
from ..deprecated import warning

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

_OLD = (
    "`{}_state_dict` is deprecated and will be removed in future versions.Please use `{}` instead."
)
_absent = names_of(__name__)
load_state_dict = warning(_load_state_dict, _OLD.format("load", "load"))
save_state_dict = warning(_save_state_dict, _OLD.format("save", "save"))


def __getattr__(name: str) -> Any:
    return _absent(name)
