"""`load_sharded_optimizer_state_dict`: an optimizer's state, without one that knows what it is like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...dispatch.functions import fn
from ...tensors.tensor import Tensor
from ..sharded.dtensor import DTensor
from ..sharded.making import empty
from .flattening import put
from .loading import load_all
from .metadata import BytesStorageMetadata, TensorStorageMetadata
from .storage import StorageReader

__all__ = ["load_sharded_optimizer_state_dict"]


def load_sharded_optimizer_state_dict(
    model_state_dict: Mapping[str, Any],
    optimizer_key: str,
    storage_reader: StorageReader,
    planner: Any = None,
) -> dict[str, Any]:
    """Read an optimizer's state from a checkpoint; all ranks call it together.

    Args:
        model_state_dict: the model's: a tensor of a parameter's shape is laid out as the parameter is, others
            are whole.
        optimizer_key: under which name the checkpoint has the state.
        storage_reader: of the checkpoint.
        planner: a `LoadPlanner`; None for a `DefaultLoadPlanner`.

    Returns:
        A state with that one key.

    Raises:
        ValueError: if the checkpoint has nothing of that name.
        CheckpointException: on all ranks, if one of them fails.
    """
    known = storage_reader.read_metadata()
    paths = known.planner_data or {}
    wanted: dict[str, Any] = {}
    for key, kind in known.state_dict_metadata.items():
        path = paths.get(key, (key,))
        if path[0] == optimizer_key:
            owner = next((model_state_dict[n] for n in path if n in model_state_dict), None)
            wanted[key] = _room(kind, owner)
    if not wanted:
        names = sorted({str(path[0]) for path in paths.values()})
        raise ValueError(f"the checkpoint has nothing under {optimizer_key!r}: it has {names}")
    load_all(wanted, storage_reader, planner=planner)
    state: dict[str, Any] = {}
    for key, value in wanted.items():
        put(state, paths.get(key, (key,)), value, make=True)
    return state


def _room(kind: TensorStorageMetadata | BytesStorageMetadata, owner: Any) -> Any:
    """What a value is read into."""
    if isinstance(kind, BytesStorageMetadata):
        return None
    dtype = kind.properties.dtype
    if isinstance(owner, DTensor) and owner.shape == kind.size:
        mesh, placements = owner.device_mesh, owner.placements
        return empty(kind.size, dtype=dtype, device_mesh=mesh, placements=placements)
    return fn.empty(
        kind.size, dtype=dtype, device=owner.device if isinstance(owner, Tensor) else "cpu"
    )
