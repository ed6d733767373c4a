"""Which part of a tensor a rank has, and tensors that are laid out in another way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ...dispatch.functions import fn
from ...tensors.tensor import Tensor
from ...values.shapes import contiguous_strides
from ..errors import NoSuchDimensionError
from ..mesh import DeviceMesh
from .moving import gathered, reduced_part
from .placements import Partial, Placement, Replicate, Shard, StridedShard, chunk_of

__all__ = ["DTensorSpec", "TensorMeta", "checked", "in_turn", "laid_out", "padded", "part_of"]

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
        NoSuchDimensionError: if the tensor has no such dimension.
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
                raise NoSuchDimensionError(
                    f"Sharding dim {each.dim} greater than tensor ndim {ndim}: {each!r} names none of its "
                    f"dimensions"
                )
            each = replace(each, dim=each.dim % ndim)
        found.append(each)
    return tuple(found)


def in_turn(placements: Sequence[Placement]) -> list[int]:
    """The dimensions of a mesh in the order in which they cut."""
    return sorted(range(len(placements)), key=lambda i: isinstance(placements[i], StridedShard))


def part_of(
    shape: Sequence[int],
    mesh: DeviceMesh,
    placements: Sequence[Placement],
    before: int | None = None,
    *,
    place: Sequence[int] | None = None,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape of a rank's part, and where in the whole tensor it begins; (0,) outside of the mesh.

    Args:
        shape: of the whole.
        mesh: the ranks.
        placements: one for each dimension of the mesh.
        before: a dimension of the mesh, which does not cut, nor do those that cut after it.
        place: where in the mesh the rank is; this rank's by default.
    """
    sizes, starts = list(shape), [0] * len(shape)
    place = mesh.get_coordinate() if place is None else place
    if place is None:
        return (0,), ()
    for i in in_turn(placements):
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
    turned = in_turn(now) != in_turn(wanted)
    for i in in_turn(now):
        old, new = now[i], wanted[i]
        cuts = [each.dim for each in (old, new) if isinstance(each, Shard | StridedShard)]
        if old != new or moved.intersection(cuts) or (turned and cuts):
            again.append(i)
            moved.update(cuts)
    cut: set[int] = set()
    for i in reversed(again):
        if _alone(now, wanted, again, i):
            local = _summed_part(local, mesh, now[i], wanted[i], i)
            cut.add(i)
        else:
            local = _whole(local, shape, mesh, now, i)
        now[i] = Replicate()
    for i in in_turn(wanted):
        if i in again and i not in cut:
            local = _cut(local, mesh, wanted[i], i)
    return local


def _alone(
    now: Sequence[Placement], wanted: Sequence[Placement], again: Sequence[int], i: int
) -> bool:
    """Whether a partial value becomes pieces along a dimension that nothing else that is done concerns."""
    old, new = now[i], wanted[i]
    if type(old) is not Partial or type(new) is not Shard or old.reduce_op not in ("sum", "avg"):
        return False
    others = [each for j in again if j != i for each in (now[j], wanted[j])]
    return not any(isinstance(p, Shard | StridedShard) and p.dim == new.dim for p in others)


def _summed_part(local: Tensor, mesh: DeviceMesh, old: Any, new: Any, i: int) -> Tensor:
    """This rank's piece of the sum, or the mean, of what the ranks along a dimension of the mesh have."""
    place = mesh.get_coordinate()
    assert place is not None, "asked before"
    rows = fn.movedim(local, new.dim, 0)
    pieces, size = mesh.size(i), rows.shape[0]
    step = chunk_of(size, pieces, 0)[1]
    part = reduced_part(padded(rows, step * pieces), old.reduce_op, mesh.get_group(i))
    length = chunk_of(size, pieces, place[i])[1]
    return fn.movedim(part.narrow(0, 0, length), 0, new.dim).contiguous()


def padded(rows: Tensor, count: int) -> Tensor:
    """Rows, and zeros below them up to a number of rows."""
    missing = count - rows.shape[0]
    return fn.cat([rows, rows.new_zeros((missing, *rows.shape[1:]))]) if missing else rows


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
    whole = gathered(padded(rows, step), group)
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
