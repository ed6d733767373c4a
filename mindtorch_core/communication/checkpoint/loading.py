"""`load`: a state filled from a checkpoint, whatever number of processes wrote it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .errors import Together
from .filesystem import FileSystemReader
from .flattening import Stateful, states_of
from .metadata import STATE_DICT_TYPE, Metadata
from .planners import DefaultLoadPlanner
from .plans import LoadPlan, LoadPlanner, planner_of
from .saving import takes_more
from .storage import StorageReader, storage_at

__all__ = ["load", "load_all", "load_state_dict"]

Path = str | os.PathLike[str]


def _by(planner: Any, reader: Any, checkpoint_id: Path | None) -> tuple[LoadPlanner, StorageReader]:
    """Who plans and who reads: as given, or else the usual ones."""
    return (
        planner_of(planner, LoadPlanner, DefaultLoadPlanner),
        storage_at(reader, checkpoint_id, StorageReader, FileSystemReader, "storage_reader"),
    )


def _filled(
    state_of: Callable[[], STATE_DICT_TYPE],
    reader: StorageReader,
    planner: LoadPlanner,
    together: Together,
) -> None:
    """Fill a state with all ranks, as planner and storage say."""
    first = together.rank == 0

    def local() -> tuple[str | None, LoadPlan]:
        found: Metadata = reader.read_metadata()
        planner.set_up_planner(state_of(), found, first)
        if takes_more(reader.set_up_storage_reader):
            reader.set_up_storage_reader(found, first, rank=together.rank, use_collectives=True)
        else:
            reader.set_up_storage_reader(found, first)
        plan = reader.prepare_local_plan(planner.create_local_plan())
        return getattr(found.storage_meta, "save_id", None), plan

    known = together.step("the checkpoint cannot be loaded into this state", local)

    def whole() -> list[LoadPlan] | None:
        if not first:
            return None
        if len({save for save, _ in known}) > 1:
            raise RuntimeError("the ranks see different checkpoints: is the folder shared by all?")
        return reader.prepare_global_plan(planner.create_global_plan([plan for _, plan in known]))

    plans = together.step("the ranks' plans do not fit together", whole)[0]
    assert plans is not None, "rank 0 has made them"

    def read() -> None:
        reader.read_data(planner.finish_plan(plans[together.rank]), planner).wait()

    together.step("the checkpoint cannot be read", read)


def load(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: Path | None = None,
    storage_reader: Any = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """Fill a state from a checkpoint, in place. All ranks call it together, each with what it has.

    Any number of processes may have written it, with other placements. Nothing is written to the state
    before all ranks know that the checkpoint has what they want, in these shapes; a file whose bytes are not
    those that were written is found while it is read, when a part of the state may be filled.

    Args:
        state_dict: tensors to fill, values to replace, and `Stateful` objects, which get their state.
        checkpoint_id: the path of the folder.
        storage_reader: a `StorageReader`; None for a `FileSystemReader` of that folder.
        planner: a `LoadPlanner`; None for a `DefaultLoadPlanner`.
        process_group: the ranks; None for all.
        no_dist: whether only this process loads.

    Raises:
        CheckpointException: on all ranks, if one of them fails.
    """
    plans, reader = _by(planner, storage_reader, checkpoint_id)
    together = Together(process_group, alone=no_dist)
    state: dict[str, Any] = {}

    def begun() -> STATE_DICT_TYPE:
        state.update(states_of(state_dict))
        return state

    _filled(begun, reader, plans, together)

    def take() -> None:
        for key, value in state_dict.items():
            if isinstance(value, Stateful):
                value.load_state_dict(state[key])
            else:
                state_dict[key] = state[key]

    together.step("the state that was read cannot be taken over", take)


def load_all(
    state_dict: dict[str, Any],
    storage_reader: Any,
    process_group: Any = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: Any = None,
) -> None:
    """Fill a state that has no `Stateful` objects, also an empty one; what `load` does within."""
    together = Together(process_group, alone=no_dist)
    plans, reader = _by(planner, storage_reader, None)
    _filled(lambda: state_dict, reader, plans, together)


def load_state_dict(
    state_dict: dict[str, Any],
    storage_reader: Any,
    process_group: Any = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: Any = None,
) -> None:
    """`load` under a name of old."""
    load(
        state_dict,
        storage_reader=storage_reader,
        process_group=process_group,
        no_dist=no_dist,
        planner=planner,
    )
