"""`save` and `async_save`."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from ..beginning import WAITS, new_group
from ..groups import BEHALF, chosen, place
from .errors import Together
from .filesystem import FileSystemWriter
from .flattening import states_of
from .metadata import STATE_DICT_TYPE, Metadata
from .planners import DefaultSavePlanner
from .plans import SavePlan, SavePlanner, planner_of
from .staging import AsyncStager, BlockingAsyncStager
from .storage import StorageWriter, WriteResult, storage_at

__all__ = [
    "AsyncCheckpointerType",
    "AsyncSaveResponse",
    "async_save",
    "save",
    "save_state_dict",
    "takes_more",
]

Path = str | os.PathLike[str]
_GROUPS: Final[dict[Any, Any]] = {}  # for what is written beside training


class AsyncCheckpointerType(Enum):
    """Who writes beside training: here a thread, whichever is asked for."""

    THREAD = "thread"
    PROCESS = "process"


@dataclass
class AsyncSaveResponse:
    """What `async_save` gives where a stager copies beside training too.

    Attributes:
        staging_completion: done when the state may be changed.
        upload_completion: done when the checkpoint is there.
    """

    staging_completion: Future[None]
    upload_completion: Future[Metadata]


def takes_more(method: Any, name: str = "kwargs") -> bool:
    """Whether a method has a parameter of this name."""
    return name in inspect.signature(method).parameters


def _written(
    state_of: Callable[[], STATE_DICT_TYPE],
    writer: StorageWriter,
    planner: SavePlanner,
    together: Together,
) -> Metadata:
    """Write a state with all ranks, as planner and storage say."""
    first = together.rank == 0

    def local() -> SavePlan:
        state = state_of()
        if takes_more(planner.set_up_planner, "storage_meta"):
            about = writer.storage_meta()
            planner.set_up_planner(state, storage_meta=about, is_coordinator=first)
        else:  # a class of old
            planner.set_up_planner(state, first)  # type: ignore[arg-type]
        if takes_more(writer.set_up_storage_writer):
            writer.set_up_storage_writer(first, rank=together.rank, use_collectives=True)
        else:
            writer.set_up_storage_writer(first)
        return writer.prepare_local_plan(planner.create_local_plan())

    plans = together.step("the state cannot be saved", local)

    held: list[Metadata] = []

    def whole() -> list[SavePlan] | None:
        if not first:
            return None
        own, found = planner.create_global_plan(plans)
        held.append(found)
        return writer.prepare_global_plan(own)

    own = together.step("the ranks' states do not fit together", whole)[0]
    assert own is not None, "rank 0 has made it"

    def write() -> list[WriteResult]:
        return writer.write_data(planner.finish_plan(own[together.rank]), planner).wait()

    results = together.step("a rank could not write its part", write)

    def finish() -> Metadata | None:
        if not first:
            return None
        writer.finish(held[0], results)
        return held[0]

    found = together.step("the index could not be written", finish)[0]
    assert found is not None, "rank 0 has it"
    return found


def _by(planner: Any, writer: Any, checkpoint_id: Path | None) -> tuple[SavePlanner, StorageWriter]:
    """Who plans and who writes: as given, or else the usual ones."""
    return (
        planner_of(planner, SavePlanner, DefaultSavePlanner),
        storage_at(writer, checkpoint_id, StorageWriter, FileSystemWriter, "storage_writer"),
    )


def save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: Path | None = None,
    storage_writer: Any = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> Metadata:
    """Write a checkpoint. All ranks call it together, each with what it has.

    Parts of DTensors are written by the ranks that have them. Of what several ranks have alike one copy is
    written. An interrupted save leaves the checkpoint that was in the folder before.

    Args:
        state_dict: tensors, numbers, texts, containers of these, and `Stateful` objects.
        checkpoint_id: the path of a folder that all ranks see.
        storage_writer: a `StorageWriter`; None for a `FileSystemWriter` of that folder.
        planner: a `SavePlanner`; None for a `DefaultSavePlanner`.
        process_group: the ranks; None for all.
        no_dist: whether only this process saves.
        use_collectives: accepted; ranks agree by messages.

    Returns:
        What was written.

    Raises:
        CheckpointException: on all ranks, if one of them fails.
    """
    plans, writer = _by(planner, storage_writer, checkpoint_id)
    together = Together(process_group, alone=no_dist)
    _Line.join()  # a save that goes on: its files might be taken for leftovers
    return _written(lambda: states_of(state_dict), writer, plans, together)


def save_state_dict(
    state_dict: dict[str, Any],
    storage_writer: Any,
    process_group: Any = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: Any = None,
) -> Metadata:
    """`save` under a name of old."""
    return save(
        state_dict,
        storage_writer=storage_writer,
        process_group=process_group,
        no_dist=no_dist,
        planner=planner,
    )


def async_save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: Path | None = None,
    storage_writer: Any = None,
    planner: Any = None,
    process_group: Any = None,
    async_checkpointer_type: Any = None,
    async_stager: Any = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> Future[Metadata] | AsyncSaveResponse:
    """`save` that returns when the state has been copied, and writes beside training.

    Args:
        state_dict: as of `save`. It may be changed as soon as this returns.
        checkpoint_id: as of `save`.
        storage_writer: as of `save`.
        planner: as of `save`; it is called beside training.
        process_group: as of `save`.
        async_checkpointer_type: accepted; a thread writes.
        async_stager: an `AsyncStager` that copies the state; None for the writer, if it is one, or a
            `BlockingAsyncStager`.
        no_dist: as of `save`.
        use_collectives: as of `save`.

    Returns:
        A future; ``result()`` waits until the checkpoint is there, and raises what went wrong. Where the
        stager gives a future of the copy, both futures.

    Raises:
        CheckpointException: on all ranks, if the state of one cannot be copied.
    """
    plans, writer = _by(planner, storage_writer, checkpoint_id)
    stager = async_stager or (writer if isinstance(writer, AsyncStager) else BlockingAsyncStager())
    together = Together(process_group, alone=no_dist)
    if getattr(stager, "cache_staged_state_dict", False):
        _Line.join()  # the copy that is being written
    held: list[Any] = []
    together.step(
        "the state cannot be copied to host memory",
        lambda: held.append(stager.stage(states_of(state_dict))),
    )
    (staged,) = held
    beside = Together(_group_beside(together), alone=together.alone)
    future: Future[Metadata] = Future()
    future.set_running_or_notify_cancel()

    def state() -> STATE_DICT_TYPE:
        found: STATE_DICT_TYPE = staged.result() if isinstance(staged, Future) else staged
        return found

    _Line.begin(lambda: _fill(future, lambda: _written(state, writer, plans, beside)))
    if isinstance(staged, Future):
        copied: Future[None] = Future()
        staged.add_done_callback(lambda done: _fill(copied, lambda: done.result() and None))
        return AsyncSaveResponse(copied, future)
    if stager.should_synchronize_after_execute:
        stager.synchronize_staging()
    return future


def _group_beside(together: Together) -> Any:
    """The same ranks as a group of their own, whose messages do not mix with those of training."""
    if together.alone:
        return None
    group = chosen(together.group)
    found = _GROUPS.get(id(group))
    if found is None or found[0] is not group:
        _GROUPS[id(group)] = found = (
            group,
            new_group(list(group.ranks), use_local_synchronization=True),
        )
    return found[1]


def _fill(future: Future[Any], work: Callable[[], Any]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001 (it is raised by `result()`)
        future.set_exception(error)


class _Line:
    """Saves that are under way: each waits for the one before it."""

    last: threading.Thread | None = None

    @classmethod
    def join(cls) -> None:
        """Wait for all."""
        if cls.last is not None:
            cls.last.join()

    @classmethod
    def begin(cls, work: Callable[[], None]) -> None:
        """Do something after what is under way, in a thread."""
        before, behalf = cls.last, place()

        def run() -> None:
            BEHALF.set(behalf)
            if before is not None:
                before.join()
            work()

        cls.last = threading.Thread(target=run, name="mindtorch-checkpoint")
        cls.last.start()


WAITS.append(_Line.join)
