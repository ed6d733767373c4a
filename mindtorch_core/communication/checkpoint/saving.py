"""`save` and `async_save`."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final

from ...tensors.tensor import Tensor
from ..beginning import new_group
from ..groups import BEHALF, chosen, place
from .errors import Together
from .filesystem import FileSystemWriter, storage_at
from .flattening import states_of
from .index import Chunk, Metadata
from .planners import DefaultLoadPlanner, DefaultSavePlanner
from .planning import Item, Own, offered, planned

__all__ = ["async_save", "check_planner", "save", "save_state_dict"]

Path = str | os.PathLike[str]
_GROUPS: Final[dict[Any, Any]] = {}  # for what is written beside training


@dataclass
class _Job:
    """What a rank has to write."""

    writer: FileSystemWriter
    found: Metadata
    plan: list[Item]
    own: Own

    def write(self, together: Together) -> Metadata:
        """Write it, with the other ranks; rank 0 puts the index in place."""
        name = f"{self.found.save}-{together.rank:05}"

        def files() -> tuple[dict[str, int], list[tuple[str, Chunk]], list[str]]:
            chunks: list[tuple[str, Chunk]] = []
            tensors: list[tuple[Chunk, Tensor]] = []
            objects = {}
            for item in self.plan:
                value = self.own[item.name, item.offset]
                if item.dtype:
                    chunk = Chunk(list(item.offset), list(item.sizes), key=item.name)
                    chunks.append((item.name, chunk))
                    tensors.append((chunk, value))
                else:
                    objects[item.name] = value
            return self.writer.write(name, tensors, objects), chunks, list(objects)

        written = together.step("a rank could not write its part", files)
        found = self.found
        for rank, (sizes, chunks, objects) in enumerate(written):
            found.files |= sizes
            for key, chunk in chunks:
                found.tensors[key].chunks.append(chunk)
            for key in objects:
                found.objects[key] = f"{found.save}-{rank:05}.objects"

        def finish() -> None:
            if together.rank == 0:
                self.writer.finish(found)

        together.step("the index could not be written", finish)
        return found


def _prepared(state_dict: Mapping[str, Any], writer: FileSystemWriter, together: Together) -> _Job:
    """What this rank has to write; all ranks agree on it."""

    def offer() -> tuple[str, list[Item]]:
        if together.rank == 0:
            writer.prepare()
        items, values = offered(states_of(state_dict))
        own.update(values)
        return secrets.token_hex(8), items

    own: Own = {}
    offers = together.step("the state cannot be saved", offer)
    name = offers[0][0]
    found, plan = together.step(
        "the ranks' states do not fit together", lambda: planned(name, [each[1] for each in offers])
    )[together.rank]
    return _Job(writer, found, plan[together.rank], own)


def check_planner(planner: Any) -> None:
    """Refuse planners that are not ours.

    Raises:
        TypeError: for those.
    """
    if planner is not None and not isinstance(planner, DefaultLoadPlanner | DefaultSavePlanner):
        raise TypeError(
            f"planner must be a DefaultSavePlanner or DefaultLoadPlanner, got {type(planner).__name__}"
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
        storage_writer: a `FileSystemWriter`, in its place.
        planner: None, or a `DefaultSavePlanner`.
        process_group: the ranks; None for all.
        no_dist: whether only this process saves.
        use_collectives: accepted; ranks agree by messages.

    Returns:
        What was written.

    Raises:
        CheckpointException: on all ranks, if one of them fails.
    """
    check_planner(planner)
    writer = storage_at(FileSystemWriter, storage_writer, checkpoint_id)
    together = Together(process_group, alone=no_dist)
    if _Line.last is not None:  # whose files this one might take for leftovers
        _Line.last.join()
    return _prepared(state_dict, writer, together).write(together)


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
) -> Future[Metadata]:
    """`save` that returns when the state has been copied, and writes beside training.

    Args:
        state_dict: as of `save`. It may be changed as soon as this returns.
        checkpoint_id: as of `save`.
        storage_writer: as of `save`.
        planner: as of `save`.
        process_group: as of `save`.
        async_checkpointer_type: accepted; a thread writes.
        async_stager: None; tensors are copied to host memory.
        no_dist: as of `save`.
        use_collectives: as of `save`.

    Returns:
        A future; ``result()`` waits until the checkpoint is on the disk, and raises what went wrong.
    """
    if async_stager is not None:
        raise NotImplementedError(
            "async_save copies tensors to host memory itself: no async_stager"
        )
    check_planner(planner)
    writer = storage_at(FileSystemWriter, storage_writer, checkpoint_id)
    together = Together(process_group, alone=no_dist)
    job = _prepared(state_dict, writer, together)
    chosen_items = {(item.name, item.offset) for item in job.plan}

    def copy() -> None:
        job.own = {key: _copied(value) for key, value in job.own.items() if key in chosen_items}

    together.step("the state cannot be copied to host memory", copy)
    beside = Together(_group_beside(together), alone=together.alone)
    future: Future[Metadata] = Future()
    future.set_running_or_notify_cancel()
    _begin(lambda: _fill(future, lambda: job.write(beside)))
    return future


def _copied(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().to("cpu", copy=True)
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    return value


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


def _fill(future: Future[Metadata], work: Callable[[], Metadata]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001 (it is raised by `result()`)
        future.set_exception(error)


class _Line:
    """Saves that are under way: each waits for the one before it."""

    last: threading.Thread | None = None


def _begin(work: Callable[[], None]) -> None:
    before, behalf = _Line.last, place()

    def run() -> None:
        BEHALF.set(behalf)
        if before is not None:
            before.join()
        work()

    _Line.last = threading.Thread(target=run, name="mindtorch-checkpoint")
    _Line.last.start()
