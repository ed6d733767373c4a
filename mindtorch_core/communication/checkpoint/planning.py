"""Who writes what: each rank says what it has, and all come to the same plan."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...tensors.tensor import Tensor
from ..sharded.dtensor import DTensor
from ..sharded.placements import Partial
from .flattening import flattened
from .index import Chunk, Entry, Metadata

__all__ = ["Item", "Own", "box_of", "offered", "planned"]


@dataclass(frozen=True)
class Item:
    """Something that a rank could write.

    Attributes:
        name: of the value.
        dtype: of a tensor; empty for objects.
        shape: of the whole tensor.
        offset: where the rank's box begins.
        sizes: its shape.
        size: in bytes.
    """

    name: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    offset: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    size: int = 0


Own = dict[tuple[str, tuple[int, ...]], Any]


def box_of(t: Tensor) -> tuple[Tensor, list[tuple[tuple[int, ...], tuple[int, ...]]]]:
    """This rank's elements of a tensor, and the box in which they lie; none if it has none."""
    if isinstance(t, DTensor):
        return t._local_tensor, t.__create_chunk_list__()
    return t.detach(), [((0,) * t.ndim, tuple(t.shape))] if t.numel() or not t.ndim else []


def offered(state: Mapping[str, Any]) -> tuple[list[Item], Own]:
    """What this rank could write of a state, and the values.

    Raises:
        ValueError: for tensors that cannot be written.
    """
    items: list[Item] = []
    own: Own = {}
    for name, (_, value) in flattened(state).items():
        if not isinstance(value, Tensor):
            items.append(Item(name))
            own[name, ()] = value
            continue
        if isinstance(value, DTensor) and any(isinstance(p, Partial) for p in value.placements):
            raise ValueError(
                f"{name} is partial, with placements {value.placements}: redistribute it"
            )
        if value.is_meta:
            raise ValueError(f"{name} is on the device meta and has no values")
        local, boxes = box_of(value)
        kind = str(value.dtype).removeprefix("torch.")
        shape = tuple(value.shape)
        if not boxes:
            items.append(Item(name, kind, shape))
        for offset, sizes in boxes:
            items.append(Item(name, kind, shape, offset, sizes, local.nbytes))
            own[name, offset] = local
    return items, own


def planned(save: str, offers: Sequence[Sequence[Item]]) -> tuple[Metadata, list[list[Item]]]:
    """What each rank writes, the same on all ranks: of copies one, on the rank that has least to write.

    Args:
        save: the name of the save.
        offers: of all ranks.

    Raises:
        ValueError: if ranks do not agree on a tensor, or have no whole one together.
    """
    found = Metadata(save=save, ranks=len(offers))
    holders: dict[Item, list[int]] = {}
    for rank, items in enumerate(offers):
        for item in items:
            if not item.dtype:
                found.objects.setdefault(item.name, "")
            else:
                entry = found.tensors.setdefault(item.name, Entry(item.dtype, list(item.shape)))
                if (entry.dtype, tuple(entry.shape)) != (item.dtype, item.shape):
                    raise ValueError(
                        f"{item.name} is {item.dtype} {list(item.shape)} on rank {rank}, and "
                        f"{entry.dtype} {entry.shape} on another"
                    )
            holders.setdefault(item, []).append(rank)
    if both := found.objects.keys() & found.tensors.keys():
        raise ValueError(f"{sorted(both)[0]} is a tensor on some ranks, and none on others")
    loads = [0] * len(offers)
    plan: list[list[Item]] = [[] for _ in offers]
    for item, ranks in sorted(holders.items(), key=lambda each: -each[0].size):
        if item.dtype and not item.sizes and item.shape:
            continue  # a rank that has no part
        rank = ranks[0] if not item.dtype else min(ranks, key=lambda r: (loads[r], r))
        loads[rank] += item.size
        plan[rank].append(item)
        if item.dtype:
            found.tensors[item.name].chunks.append(Chunk(list(item.offset), list(item.sizes)))
    for name, entry in found.tensors.items():
        covered = sum(math.prod(chunk.sizes) for chunk in entry.chunks)
        if covered != math.prod(entry.shape):
            raise ValueError(
                f"the ranks have {covered} of the {math.prod(entry.shape)} elements of {name}: all ranks of "
                f"its mesh take part in a save"
            )
        entry.chunks = []  # ranks say what they have written
    return found, plan
