"""Boxes of tensors: which a rank has, which it writes, and what two have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...tensors.tensor import Tensor
from ...values.shapes import Size
from ..sharded.dtensor import DTensor
from ..sharded.placements import Partial
from .metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    MetadataIndex,
    TensorProperties,
    TensorStorageMetadata,
)
from .plans import LoadItemType, ReadItem, TensorWriteData, WriteItem, WriteItemType

__all__ = ["chunks_of", "found_in", "part", "read_items", "write_items"]


def chunks_of(t: Tensor) -> list[ChunkStorageMetadata]:
    """The boxes in which this rank's elements lie; of a whole tensor without elements one."""
    if isinstance(t, DTensor):
        boxes = t.__create_chunk_list__()
        if not boxes and not t.numel() and t.device_mesh.get_coordinate() is not None:
            boxes = [((0,) * t.ndim, tuple(t._local_tensor.shape))]
    else:
        boxes = [((0,) * t.ndim, tuple(t.shape))]
    return [ChunkStorageMetadata(Size(starts), Size(sizes)) for starts, sizes in boxes]


def write_items(name: str, value: Any) -> list[WriteItem]:
    """What this rank could write of a value.

    Raises:
        ValueError: for tensors that cannot be written.
    """
    if not isinstance(value, Tensor):
        return [WriteItem(MetadataIndex(name), WriteItemType.BYTE_IO)]
    if isinstance(value, DTensor) and any(isinstance(p, Partial) for p in value.placements):
        raise ValueError(f"{name} is partial, with placements {value.placements}: redistribute it")
    if value.is_meta:
        raise ValueError(f"{name} is on the device meta and has no values")
    kind = WriteItemType.SHARD if isinstance(value, DTensor) else WriteItemType.TENSOR
    like = TensorProperties.create_from_tensor(value)
    return [
        WriteItem(
            MetadataIndex(name, chunk.offsets),
            kind,
            tensor_data=TensorWriteData(chunk, like, Size(value.shape)),
        )
        for chunk in chunks_of(value)
    ]


def read_items(name: str, there: Any, value: Any) -> list[ReadItem]:
    """What this rank reads of a value.

    Args:
        name: of the value.
        there: what the checkpoint says of it.
        value: that the state has.

    Raises:
        ValueError: if a tensor has another shape.
        TypeError: if a tensor is saved as none, or the other way round.
    """
    if isinstance(there, TensorStorageMetadata) != isinstance(value, Tensor):
        kind = "an object" if isinstance(there, BytesStorageMetadata) else "a tensor"
        raise TypeError(f"{name} was saved as {kind}, and is wanted as {type(value).__name__}")
    if not isinstance(there, TensorStorageMetadata):
        index, none = MetadataIndex(name), Size([0])
        return [ReadItem(LoadItemType.BYTE_IO, index, none, index, none, none)]
    if tuple(there.size) != tuple(value.shape):
        raise ValueError(
            f"Size mismatch between saved {[*there.size]} and current: {[*value.shape]} for {name}"
        )
    found = []
    for own, wanted in enumerate(chunks_of(value)):
        for number, chunk in enumerate(there.chunks):
            shared = _overlap(wanted, chunk)
            if shared is not None:
                to, at, lengths = shared
                target = MetadataIndex(name, wanted.offsets, own)
                source = MetadataIndex(name, chunk.offsets, number)
                found.append(ReadItem(LoadItemType.TENSOR, target, to, source, at, lengths))
    return found


def _overlap(
    wanted: ChunkStorageMetadata, there: ChunkStorageMetadata
) -> tuple[Size, Size, Size] | None:
    """Where what two boxes share begins in either, and its shape; None if they share nothing."""
    both = [*zip(wanted.offsets, wanted.sizes, there.offsets, there.sizes, strict=True)]
    starts = [max(a, b) for a, _, b, _ in both]
    sizes = [min(a + n, b + m) - s for (a, n, b, m), s in zip(both, starts, strict=True)]
    if any(n <= 0 for n in sizes):
        return None
    to, at = (
        Size(s - o for s, o in zip(starts, box.offsets, strict=True)) for box in (wanted, there)
    )
    return to, at, Size(sizes)


def part(t: Tensor, starts: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """A box of a tensor."""
    for dim, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        if size != t.shape[dim]:
            t = t.narrow(dim, start, size)
    return t


def found_in(state: Mapping[str, Any], index: MetadataIndex) -> Any:
    """A value of a state, or this rank's box of it.

    Raises:
        ValueError: if there is none.
    """
    if index.fqn not in state:
        raise ValueError(f"Could not find FQN: '{index.fqn}'")
    value = state[index.fqn]
    if isinstance(value, Tensor):
        return value._local_tensor if isinstance(value, DTensor) else value.detach()
    if index.offset is not None:
        raise ValueError(
            f"FQN: '{index.fqn}' is not a ShardedTensor, can't find by offset: '{index.offset}'"
        )
    return value
