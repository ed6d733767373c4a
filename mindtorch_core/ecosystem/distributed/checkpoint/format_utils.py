"""``torch.distributed.checkpoint.format_utils``: checkpoints as files of `torch.save`."""

from __future__ import annotations

import os
from typing import Any

from ....communication.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from ....communication.checkpoint.loading import load_all
from ....communication.checkpoint.planners import EmptyStateLoadPlanner
from ....communication.checkpoint.saving import save
from ....serialization import load as _load_file
from ....serialization import save as _save_file

__all__ = ["dcp_to_torch_save", "torch_save_to_dcp"]

_EmptyStateDictLoadPlanner = EmptyStateLoadPlanner
_load_state_dict = load_all
Path = str | os.PathLike[str]


def dcp_to_torch_save(dcp_checkpoint_dir: Path, torch_save_path: Path) -> None:
    """Write what a checkpoint holds into one file. One process does it, which has memory for all.

    Args:
        dcp_checkpoint_dir: the checkpoint's folder.
        torch_save_path: of the file.
    """
    state: dict[str, Any] = {}
    load_all(
        state, FileSystemReader(dcp_checkpoint_dir), planner=EmptyStateLoadPlanner(), no_dist=True
    )
    _save_file(state, torch_save_path)


def torch_save_to_dcp(torch_save_path: Path, dcp_checkpoint_dir: Path) -> None:
    """Write what a file holds as a checkpoint. One process does it.

    Args:
        torch_save_path: of the file.
        dcp_checkpoint_dir: the checkpoint's folder.
    """
    state: dict[str, Any] = _load_file(torch_save_path, map_location="cpu")
    save(state, storage_writer=FileSystemWriter(dcp_checkpoint_dir), no_dist=True)
