"""Which part of a tensor a rank has, and tensors that are laid out in another way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ...dispatch.functions import fn
from ...tensors.tensor import Tensor
from ...values.shapes import contiguous_strides
from ..collectives import all_gather_into_tensor
from ..mesh import DeviceMesh
from .placements import Partial, Placement, Replicate, Shard, StridedShard, chunk_of

__all__ = ["DTensorSpec", "TensorMeta", "checked", "laid_out", "part_of"]

_NEUTRAL: Final = {"sum": 0, "avg": None, "product": 1, "min": None, "max": None}


@dataclass(frozen=True)
class TensorMeta:
    """What is known of a tensor without its elements.

    Attributes:
        shape: of the whole tensor.
        stride: of the whole tensor.
        dtype: of its elements.
    """

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: Any


@dataclass(frozen=True)
class DTensorSpec:
    """How a tensor lies on a mesh.

    Attributes:
        mesh: the ranks.
        placements: one for each dimension of the mesh.
        tensor_meta: of the whole tensor.
    """

    mesh: DeviceMesh
    placements: tuple[Placement, ...]
    tensor_meta: TensorMeta

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the whole tensor."""
        return self.tensor_meta.shape

    def like(self, shape: Sequence[int], dtype: Any) -> DTensorSpec:
        """The same placements for a tensor of another shape or dtype."""
        meta = TensorMeta(tuple(shape), contiguous_strides(tuple(shape)), dtype)
        return DTensorSpec(self.mesh, self.placements, meta)

    def placed(self, placements: Sequence[Placement]) -> DTensorSpec:
        """The same tensor with other placements."""
        return DTensorSpec(self.mesh, tuple(placements), self.tensor_meta)


def checked(
    placements: Sequence[Placement] | None, mesh: DeviceMesh, ndim: int
) -> tuple[Placement, ...]:
    """Placements for a mesh, negative dimensions counted from the end; by default all replicated.

    Raises:
        ValueError: if there are not as many as the mesh has dimensions.
        TypeError: if one is no placement.
        IndexError: if the tensor has no such dimension.
    """
    if placements is None:
        return (Replicate(),) * mesh.ndim
    if len(placements) != mesh.ndim:
        raise ValueError(
            f"`placements` must have the same length as `device_mesh.ndim`! Found placements length: "
            f"{len(placements)}, and device_mesh.ndim: {mesh.ndim}."
        )
    found: list[Placement] = []
    for each in placements:
        if not isinstance(each, Placement):
            raise TypeError(
                f"placements must be Shard, Replicate or Partial, got {type(each).__name__}"
            )
        if isinstance(each, Shard | StridedShard):
            if not -ndim <= each.dim < ndim:
                raise IndexError(f"{each!r} names no dimension of a tensor that has {ndim}")
            each = replace(each, dim=each.dim % ndim)
        found.append(each)
    return tuple(found)


def _in_turn(placements: Sequence[Placement]) -> list[int]:
    """The dimensions of a mesh in the order in which they cut."""
    return sorted(range(len(placements)), key=lambda i: isinstance(placements[i], StridedShard))


def part_of(
    shape: Sequence[int],
    mesh: DeviceMesh,
    placements: Sequence[Placement],
    before: int | None = None,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape of this rank's part, and where in the whole tensor it begins; (0,) outside of the mesh.

    Args:
        shape: of the whole.
        mesh: the ranks.
        placements: one for each dimension of the mesh.
        before: a dimension of the mesh, which does not cut, nor do those that cut after it.
    """
    sizes, starts = list(shape), [0] * len(shape)
    place = mesh.get_coordinate()
    if place is None:
        return (0,), ()
    for i in _in_turn(placements):
        if i == before:
            break
        each = placements[i]
        if isinstance(each, Shard | StridedShard):
            start, sizes[each.dim] = chunk_of(sizes[each.dim], mesh.size(i), place[i])
            starts[each.dim] += start
    return tuple(sizes), tuple(starts)


def laid_out(local: Tensor, spec: DTensorSpec, placements: Sequence[Placement]) -> Tensor:
    """This rank's part with other placements. All ranks of the mesh call it together.

    Args:
        local: its part now.
        spec: the placements now.
        placements: those wanted.

    Raises:
        NotImplementedError: for a partial result that nothing can be split into.
    """
    mesh, shape = spec.mesh, spec.shape
    now, wanted = list(spec.placements), list(placements)
    if now == wanted or mesh.get_coordinate() is None:
        return local
    moved: set[int] = set()
    again: list[int] = []
    turned = _in_turn(now) != _in_turn(wanted)
    for i in _in_turn(now):
        old, new = now[i], wanted[i]
        cuts = [each.dim for each in (old, new) if isinstance(each, Shard | StridedShard)]
        if old != new or moved.intersection(cuts) or (turned and cuts):
            again.append(i)
            moved.update(cuts)
    for i in reversed(again):
        local = _whole(local, shape, mesh, now, i)
        now[i] = Replicate()
    for i in _in_turn(wanted):
        if i in again:
            local = _cut(local, mesh, wanted[i], i)
    return local


def _whole(
    local: Tensor, shape: Sequence[int], mesh: DeviceMesh, now: Sequence[Placement], i: int
) -> Tensor:
    """A rank's part without what is special along one dimension of the mesh."""
    each, group = now[i], mesh.get_group(i)
    if isinstance(each, Partial):
        return each.reduced(local, group)
    if not isinstance(each, Shard | StridedShard):
        return local
    before, _ = part_of(shape, mesh, now, i)
    dim, size, pieces = each.dim, before[each.dim], mesh.size(i)
    step = chunk_of(size, pieces, 0)[1]
    rows = fn.movedim(local, dim, 0)
    rest = tuple(rows.shape[1:])
    if rows.shape[0] < step:
        rows = fn.cat([rows, rows.new_zeros((step - rows.shape[0], *rest))])
    whole = rows.new_empty((step * pieces, *rest))
    all_gather_into_tensor(whole, rows.contiguous(), group)
    return fn.movedim(whole.narrow(0, 0, size), 0, dim).contiguous()


def _cut(local: Tensor, mesh: DeviceMesh, wanted: Placement, i: int) -> Tensor:
    """A rank's part of what all ranks along a dimension of the mesh have whole."""
    place = mesh.get_coordinate()
    assert place is not None, "asked before"
    if isinstance(wanted, Shard | StridedShard):
        size = local.shape[wanted.dim]
        start, length = chunk_of(size, mesh.size(i), place[i])
        return local.narrow(wanted.dim, start, length).clone()
    if isinstance(wanted, Partial):
        neutral: Any = _NEUTRAL.get(wanted.reduce_op)
        if type(wanted) is not Partial or (neutral is None and wanted.reduce_op == "norm"):
            raise NotImplementedError(f"{wanted} is what ops give; nothing is laid out as that")
        if neutral is None or place[i] == 0:  # reductions that a value repeated does not change
            return local
        return fn.full_like(local, neutral)
    return local
