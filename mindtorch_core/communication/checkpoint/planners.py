"""`DefaultSavePlanner` and `DefaultLoadPlanner`: nested states as tables, and of copies one."""

from __future__ import annotations

import io
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...dispatch.functions import fn
from ...serialization import load as load_object
from ...serialization import save as save_object
from ...tensors.tensor import Tensor
from .boxes import found_in, part, read_items, write_items
from .flattening import Path, flattened, put
from .metadata import (
    STATE_DICT_TYPE,
    BytesStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorStorageMetadata,
)
from .plans import (
    LoadPlan,
    LoadPlanner,
    ReadItem,
    SavePlan,
    SavePlanner,
    WriteItem,
    WriteItemType,
)

__all__ = [
    "DefaultLoadPlanner",
    "DefaultSavePlanner",
    "EmptyStateLoadPlanner",
    "create_default_global_load_plan",
    "create_default_global_save_plan",
    "create_default_local_load_plan",
    "create_default_local_save_plan",
]


def _flat(state: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Path]]:
    """A nested state as a table, and the path of each name."""
    found = flattened(state)
    return {n: value for n, (_, value) in found.items()}, {
        n: path for n, (path, _) in found.items()
    }


# ---- saving --------------------------------------------------------------------------------------


class DefaultSavePlanner(SavePlanner):
    """Writes each tensor and object of a state; of what ranks have alike, one copy.

    Args:
        flatten_state_dict: whether nested states become one table, so that each tensor in them is one.
        flatten_sharded_tensors: accepted.
        dedup_replicated_tensors: accepted.
        dedup_save_to_lowest_rank: whether the first rank that has a copy writes it, in place of the one
            that has least to write.
        enable_plan_caching: accepted; plans are made anew each time.
    """

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        dedup_replicated_tensors: bool | None = None,
        dedup_save_to_lowest_rank: bool = False,
        enable_plan_caching: bool = False,
    ) -> None:
        self.flatten_state_dict = flatten_state_dict
        self.flatten_sharded_tensors = flatten_sharded_tensors
        self.dedup_save_to_lowest_rank = dedup_save_to_lowest_rank
        self.mappings: dict[str, Path] = {}
        self.state_dict: dict[str, Any] = {}

    def set_up_planner(
        self,
        state_dict: STATE_DICT_TYPE,
        storage_meta: StorageMeta | None = None,
        is_coordinator: bool = False,
    ) -> None:
        if self.flatten_state_dict:
            state_dict, self.mappings = _flat(state_dict)
        self.state_dict = state_dict
        self.is_coordinator = is_coordinator

    def create_local_plan(self) -> SavePlan:
        plan = create_default_local_save_plan(self.state_dict, self.is_coordinator)
        if self.flatten_state_dict:
            plan = replace(plan, planner_data=self.mappings)
        self.plan = plan
        return plan

    def create_global_plan(self, all_plans: list[SavePlan]) -> tuple[list[SavePlan], Metadata]:
        """See `SavePlanner`.

        Raises:
            ValueError: if ranks do not agree on a tensor, or have no whole one together.
        """
        _check_alike(all_plans)
        plans = _once(all_plans, to_lowest=self.dedup_save_to_lowest_rank)
        plans, found = create_default_global_save_plan(plans)
        if self.flatten_state_dict:
            paths: dict[str, Path] = {}
            for each in plans:
                paths |= each.planner_data or {}
            found = replace(found, planner_data=paths)
        _check_covered(found)
        self.global_plan, self.metadata = plans, found
        return plans, found

    def finish_plan(self, new_plan: SavePlan) -> SavePlan:
        self.plan = new_plan
        return new_plan

    def resolve_data(self, write_item: WriteItem) -> Tensor | io.BytesIO:
        found: Tensor | io.BytesIO = self.transform_object(
            write_item, self.lookup_object(write_item.index)
        )
        return found

    def lookup_object(self, index: MetadataIndex) -> Any:
        """A value of the state, or this rank's part of it; for classes that derive from this one."""
        return found_in(self.state_dict, index)

    def transform_object(self, write_item: WriteItem, object: Any) -> Any:
        """What is written of a value; for classes that derive from this one."""
        if write_item.type is not WriteItemType.BYTE_IO:
            return object
        data = io.BytesIO()
        save_object(object, data)
        return data


def create_default_local_save_plan(state_dict: dict[str, Any], is_coordinator: bool) -> SavePlan:
    """All that this rank has of a table."""
    return SavePlan(
        [item for name, value in state_dict.items() for item in write_items(name, value)]
    )


def create_default_global_save_plan(
    all_plans: list[SavePlan], rewrite_index_hints: bool = True
) -> tuple[list[SavePlan], Metadata]:
    """What a checkpoint holds when all plans are carried out; the plans, whose boxes are numbered."""
    found: dict[str, Any] = {}
    plans = []
    for plan in all_plans:
        items = []
        for item in plan.items:
            name, data = item.index.fqn, item.tensor_data
            if data is None:
                found[name] = BytesStorageMetadata()
                items.append(item)
                continue
            entry = found.setdefault(name, TensorStorageMetadata(data.properties, data.size, []))
            if rewrite_index_hints:
                item = replace(item, index=replace(item.index, index=len(entry.chunks)))
            entry.chunks.append(data.chunk)
            items.append(item)
        plans.append(replace(plan, items=items))
    return plans, Metadata(found)


def _check_alike(plans: Sequence[SavePlan]) -> None:
    """Refuse ranks that have different things by one name.

    Raises:
        ValueError: saying which.
    """
    known: dict[str, tuple[str, list[int]] | None] = {}
    for rank, plan in enumerate(plans):
        for item in plan.items:
            name, data = item.index.fqn, item.tensor_data
            own: tuple[str, list[int]] | None = None
            if data is not None:
                own = str(data.properties.dtype).removeprefix("torch."), [*data.size]
            other = known.setdefault(name, own)
            if (own is None) != (other is None):
                raise ValueError(f"{name} is a tensor on some ranks, and none on others")
            if own is not None and other is not None and own != other:
                raise ValueError(
                    f"{name} is {own[0]} {own[1]} on rank {rank}, and {other[0]} {other[1]} on another"
                )


def _once(plans: Sequence[SavePlan], *, to_lowest: bool) -> list[SavePlan]:
    """Plans in which each box and object stands once: the largest first, where least is to be written."""
    holders: dict[MetadataIndex, list[int]] = {}
    sizes: dict[MetadataIndex, int] = {}
    for rank, plan in enumerate(plans):
        for item in plan.items:
            holders.setdefault(item.index, []).append(rank)
            data = item.tensor_data
            sizes[item.index] = (
                0 if data is None else math.prod(data.chunk.sizes) * data.properties.dtype.itemsize
            )
    loads = [0] * len(plans)
    chosen: dict[MetadataIndex, int] = {}
    for index in sorted(holders, key=lambda each: -sizes[each]):
        ranks = holders[index]
        first = to_lowest or index.offset is None
        rank = ranks[0] if first else min(ranks, key=lambda r: (loads[r], r))
        loads[rank] += sizes[index]
        chosen[index] = rank
    return [
        replace(plan, items=[item for item in plan.items if chosen[item.index] == rank])
        for rank, plan in enumerate(plans)
    ]


def _check_covered(found: Metadata) -> None:
    """Refuse tensors that all boxes together do not cover.

    Raises:
        ValueError: saying which.
    """
    for name, entry in found.state_dict_metadata.items():
        if isinstance(entry, TensorStorageMetadata):
            covered = sum(math.prod(chunk.sizes) for chunk in entry.chunks)
            if covered != math.prod(entry.size):
                raise ValueError(
                    f"the ranks have {covered} of the {math.prod(entry.size)} elements of {name}: all "
                    f"ranks of its mesh take part in a save"
                )


# ---- loading -------------------------------------------------------------------------------------


class DefaultLoadPlanner(LoadPlanner):
    """Fills a state by names, whatever boxes the checkpoint has of its tensors.

    Args:
        flatten_state_dict: whether nested states become one table.
        flatten_sharded_tensors: accepted.
        allow_partial_load: whether names that the checkpoint lacks keep their values.
    """

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        allow_partial_load: bool = False,
    ) -> None:
        self.flatten_state_dict = flatten_state_dict
        self.flatten_sharded_tensors = flatten_sharded_tensors
        self.allow_partial_load = allow_partial_load
        self.original_state_dict: dict[str, Any] = {}
        self.state_dict: dict[str, Any] = {}
        self.mappings: dict[str, Path] = {}
        self.metadata: Metadata | None = None

    def set_up_planner(
        self,
        state_dict: STATE_DICT_TYPE,
        metadata: Metadata | None = None,
        is_coordinator: bool = False,
    ) -> None:
        """See `LoadPlanner`. Tensors on the device meta become tensors in host memory."""
        for path, value in flattened(state_dict).values():
            if type(value) is Tensor and value.is_meta:
                put(state_dict, path, fn.empty_like(value, device="cpu"))
        self.original_state_dict = state_dict
        if self.flatten_state_dict:
            state_dict, self.mappings = _flat(state_dict)
        self.state_dict = state_dict
        self.metadata = metadata
        self.is_coordinator = is_coordinator

    def create_local_plan(self) -> LoadPlan:
        """See `LoadPlanner`.

        Raises:
            RuntimeError: if the checkpoint lacks a name.
            ValueError: if a tensor has another shape.
            TypeError: if a tensor is saved as none, or the other way round.
        """
        assert self.metadata is not None, "set_up_planner is called before"
        return create_default_local_load_plan(
            self.state_dict, self.metadata, not self.allow_partial_load
        )

    def create_global_plan(self, global_plan: list[LoadPlan]) -> list[LoadPlan]:
        return create_default_global_load_plan(global_plan)

    def finish_plan(self, central_plan: LoadPlan) -> LoadPlan:
        return central_plan

    def load_bytes(self, read_item: ReadItem, value: io.BytesIO) -> None:
        name = read_item.dest_index.fqn
        found = load_object(value, map_location="cpu")
        if self.flatten_state_dict:
            put(self.original_state_dict, self.mappings[name], found)
        else:
            self.state_dict[name] = found

    def resolve_tensor(self, read_item: ReadItem) -> Tensor:
        return self.transform_tensor(read_item, self.lookup_tensor(read_item.dest_index))

    def commit_tensor(self, read_item: ReadItem, tensor: Tensor) -> None:
        """See `LoadPlanner`: nothing is left to do."""

    def lookup_tensor(self, index: MetadataIndex) -> Tensor:
        """This rank's part of a tensor of the state; for classes that derive from this one."""
        found: Tensor = found_in(self.state_dict, index)
        return found

    def transform_tensor(self, read_item: ReadItem, tensor: Tensor) -> Tensor:
        """What of that is filled; for classes that derive from this one."""
        return part(tensor, read_item.dest_offsets, read_item.lengths)


class EmptyStateLoadPlanner(DefaultLoadPlanner):
    """Fills an empty dict with what a checkpoint holds.

    Args:
        keys: names, or beginnings of paths, of what is wanted; None for all.
        *args, **kwargs: those of `DefaultLoadPlanner`.
    """

    def __init__(self, keys: Collection[str] | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.keys = keys

    def _wants(self, name: str, path: Path) -> bool:
        if self.keys is None or name in self.keys:
            return True
        starts = (".".join(map(str, path[: n + 1])) for n in range(len(path)))
        return any(start in self.keys for start in starts)

    def set_up_planner(
        self,
        state_dict: STATE_DICT_TYPE,
        metadata: Metadata | None = None,
        is_coordinator: bool = False,
    ) -> None:
        """See `LoadPlanner`.

        Raises:
            AssertionError: if the state is not empty.
        """
        assert not state_dict, "the state must be empty: it gets what the checkpoint holds"
        assert metadata is not None, "the checkpoint says what it holds"
        for name, there in metadata.state_dict_metadata.items():
            path = (metadata.planner_data or {}).get(name, (name,))
            if self._wants(name, path):
                value: Any = there
                if isinstance(there, TensorStorageMetadata):
                    value = fn.empty(there.size, dtype=there.properties.dtype)
                put(state_dict, path, value, make=True)
        super().set_up_planner(state_dict, metadata, is_coordinator)


def create_default_local_load_plan(
    state_dict: dict[str, Any], metadata: Metadata, strict: bool = True
) -> LoadPlan:
    """What a table wants of a checkpoint.

    Raises:
        RuntimeError: if that lacks a name, unless ``strict`` is False.
    """
    items: list[ReadItem] = []
    for name, value in state_dict.items():
        there = metadata.state_dict_metadata.get(name)
        if there is not None:
            items += read_items(name, there, value)
        elif strict:
            raise RuntimeError(f"Missing key in checkpoint state_dict: {name}.")
    return LoadPlan(items)


def create_default_global_load_plan(all_plans: list[LoadPlan]) -> list[LoadPlan]:
    """The plans as they are."""
    return all_plans
