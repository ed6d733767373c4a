"""`load`: a state filled from a checkpoint, whatever number of processes wrote it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...gradients.grad_mode import no_grad
from ...tensors.tensor import Tensor
from .errors import Together
from .filesystem import FileSystemReader, storage_at
from .flattening import Path, Stateful, flattened, put, states_of
from .index import Chunk, Metadata
from .planning import box_of
from .saving import check_planner

__all__ = ["load", "load_state_dict"]

Box = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass
class _Wish:
    """What a rank reads: boxes of files, and where in its tensors their parts go."""

    chunks: list[tuple[Chunk, str]] = field(default_factory=list)
    targets: list[tuple[Tensor, Box, Box]] = field(default_factory=list)
    objects: dict[str, list[tuple[str, Path]]] = field(default_factory=dict)


def _wish(state: Mapping[str, Any], found: Metadata, *, partial: bool) -> _Wish:
    """What a state wants of a checkpoint.

    Raises:
        RuntimeError: if the checkpoint lacks a name.
        ValueError: if a tensor has another shape.
        TypeError: if a tensor is saved as none, or the other way round.
    """
    wish = _Wish()
    for name, (path, value) in flattened(state).items():
        entry = found.tensors.get(name)
        if entry is None and name not in found.objects:
            if partial:
                continue
            raise RuntimeError(f"Missing key in checkpoint state_dict: {name}.")
        if (entry is not None) != isinstance(value, Tensor):
            kind = "an object" if entry is None else "a tensor"
            raise TypeError(f"{name} was saved as {kind}, and is wanted as {type(value).__name__}")
        if entry is None:
            wish.objects.setdefault(found.objects[name], []).append((name, path))
            continue
        if entry.shape != list(value.shape):
            raise ValueError(
                f"Size mismatch between saved {entry.shape} and current: {list(value.shape)} for {name}"
            )
        local, boxes = box_of(value)
        for box in boxes:
            for chunk in entry.chunks:
                parts = _overlap(box, (tuple(chunk.offset), tuple(chunk.sizes)))
                if parts is not None:
                    wish.chunks.append((chunk, entry.dtype))
                    wish.targets.append((local, *parts))
    return wish


def _overlap(wanted: Box, there: Box) -> tuple[Box, Box] | None:
    """What two boxes share, as seen from either; None if nothing."""
    starts = [max(a, b) for a, b in zip(wanted[0], there[0], strict=True)]
    ends = [
        min(a + n, b + m)
        for a, n, b, m in zip(wanted[0], wanted[1], there[0], there[1], strict=True)
    ]
    sizes = tuple(e - s for s, e in zip(starts, ends, strict=True))
    if any(n <= 0 for n in sizes):
        return None
    first, second = (
        tuple(s - o for s, o in zip(starts, box[0], strict=True)) for box in (wanted, there)
    )
    return (first, sizes), (second, sizes)


def _part(t: Tensor, box: Box) -> Tensor:
    for dim, (start, size) in enumerate(zip(*box, strict=True)):
        t = t.narrow(dim, start, size)
    return t


def load(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
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
        storage_reader: a `FileSystemReader`, in its place.
        planner: None, or a `DefaultLoadPlanner`.
        process_group: the ranks; None for all.
        no_dist: whether only this process loads.

    Raises:
        CheckpointException: on all ranks, if one of them fails.
    """
    check_planner(planner)
    reader = storage_at(FileSystemReader, storage_reader, checkpoint_id)
    together = Together(process_group, alone=no_dist)
    partial = bool(getattr(planner, "allow_partial_load", False))
    state: dict[str, Any] = {}
    held: list[_Wish] = []

    def look() -> str:
        found = reader.read_metadata()
        state.update(states_of(state_dict))
        held.append(_wish(state, found, partial=partial))
        return found.save

    saves = together.step("the checkpoint cannot be loaded into this state", look)

    def read() -> None:
        if len(set(saves)) > 1:
            raise RuntimeError("the ranks see different checkpoints: is the folder shared by all?")
        _read(reader, held[0], state)

    def take() -> None:
        for key, value in state_dict.items():
            if isinstance(value, Stateful):
                value.load_state_dict(state[key])
            else:
                state_dict[key] = state[key]

    together.step("the checkpoint cannot be read", read)
    together.step("the state that was read cannot be taken over", take)


def _read(reader: FileSystemReader, wish: _Wish, state: dict[str, Any]) -> None:
    with no_grad():
        for number, t in reader.read(wish.chunks):
            target, own, there = wish.targets[number]
            _part(target, own).copy_(_part(t, there))
    for file, wanted in wish.objects.items():
        values = reader.read_objects(file)
        for name, path in wanted:
            put(state, path, values[name])


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
