"""`DeviceMesh`: ranks in rows and columns, and the groups along each dimension."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..frontend.creation import tensor as make
from ..tensors.tensor import Tensor
from .beginning import init_process_group, new_group
from .groups import NON_MEMBER, WORLD, ProcessGroup, default_group

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """An array of ranks. All processes make it together; each is in one group along each dimension.

    Args:
        device_type: of the devices that the ranks use.
        mesh: the ranks, as nested lists or a tensor of whole numbers.
        mesh_dim_names: names of the dimensions.

    Raises:
        RuntimeError: if a rank is named twice, or there is no such rank.
    """

    def __init__(
        self,
        device_type: str,
        mesh: Any,
        *,
        mesh_dim_names: tuple[str, ...] | None = None,
        _groups: Sequence[Any] | None = None,
    ) -> None:
        self.device_type = device_type
        self.mesh = mesh.to("cpu") if isinstance(mesh, Tensor) else make(mesh)
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        ranks = self._ranks()
        world = default_group()
        if len(set(ranks)) < len(ranks):
            raise RuntimeError(f"DeviceMesh cannot have a rank twice: {ranks}")
        if any(not 0 <= rank < world.size() for rank in ranks):
            raise RuntimeError(
                f"Mesh should not be bigger than default world size {world.size()}, but found {ranks}"
            )
        self._rank = world.position
        self._coordinate = None
        if self._rank in ranks:
            place, found = ranks.index(self._rank), []
            for size in reversed(self.shape):
                found.append(place % size)
                place //= size
            self._coordinate = found[::-1]
        self._groups = list(self._made() if _groups is None else _groups)

    def _ranks(self) -> list[int]:
        return [int(rank) for rank in self.mesh.flatten().tolist()]

    def _made(self) -> list[Any]:
        """For each dimension the group of this process; all make all groups, in one order."""
        found: list[Any] = []
        for dim in range(self.ndim):
            rows = self.mesh.movedim(dim, -1).reshape([-1, self.shape[dim]]).tolist()
            own: Any = NON_MEMBER
            for row in rows:
                whole = sorted(row) == list(default_group().ranks) == row
                made = WORLD.group if whole else new_group(row, sort_ranks=False)
                own = made if self._rank in row else own
            found.append(own)
        return found

    # ---- its shape ---------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of ranks along the dimensions."""
        return tuple(self.mesh.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self.mesh.ndim)

    def size(self, mesh_dim: int | None = None) -> int:
        """How many ranks there are, or how many along a dimension."""
        return math.prod(self.shape) if mesh_dim is None else self.shape[mesh_dim]

    def get_rank(self) -> int:
        """This process's rank in the default group."""
        return self._rank

    def get_coordinate(self) -> list[int] | None:
        """Where this process is; None if it is not in the mesh."""
        return None if self._coordinate is None else list(self._coordinate)

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """This process's position along a dimension, which must be named if there are several.

        Raises:
            RuntimeError: if it is not named, or the process is not in the mesh.
        """
        dim = self._dim(mesh_dim)
        if self._coordinate is None:
            raise RuntimeError(f"rank {self._rank} is not in {self}")
        return self._coordinate[dim]

    # ---- its groups ---------------------------------------------------------------------------------

    def _dim(self, mesh_dim: int | str | None) -> int:
        if mesh_dim is None:
            if self.ndim != 1:
                raise RuntimeError(
                    f"Found the DeviceMesh have {self.ndim} dimensions. Optional kwarg `mesh_dim` needs to "
                    f"be specified when device_mesh.ndim > 1."
                )
            return 0
        if isinstance(mesh_dim, str):
            if mesh_dim not in (self.mesh_dim_names or ()):
                raise KeyError(
                    f"Mesh dimension '{mesh_dim}' does not exist. Available mesh dimensions are: "
                    f"mesh_dim_names={self.mesh_dim_names}"
                )
            return (self.mesh_dim_names or ()).index(mesh_dim)
        return range(self.ndim)[mesh_dim]

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """The group of this process along a dimension, which must be named if there are several."""
        found: ProcessGroup = self._groups[self._dim(mesh_dim)]
        return found

    def get_all_groups(self) -> list[ProcessGroup]:
        """The groups of this process along all dimensions."""
        return list(self._groups)

    def __getitem__(self, names: str | tuple[str, ...]) -> DeviceMesh:
        """The part of the mesh along named dimensions in which this process is.

        Raises:
            KeyError: if there is no such dimension.
            RuntimeError: if dimensions have no names.
        """
        if self.mesh_dim_names is None:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        wanted = (names,) if isinstance(names, str) else tuple(names)
        dims = [self._dim(name) for name in wanted]
        if sorted(dims) != dims:
            raise KeyError(f"Invalid mesh_dim_names {wanted}: they are in another order in {self}")
        others = [d for d in range(self.ndim) if d not in dims]
        rows = self.mesh.permute([*others, *dims]).reshape([-1, *(self.shape[d] for d in dims)])
        own = next((row for row in rows if self._rank in row.flatten().tolist()), rows[0])
        groups = [self._groups[d] for d in dims]
        return DeviceMesh(self.device_type, own, mesh_dim_names=wanted, _groups=groups)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceMesh) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.device_type, self.shape, tuple(self._ranks()), self.mesh_dim_names

    def __repr__(self) -> str:
        names = self.mesh_dim_names or range(self.ndim)
        shown = ", ".join(f"{n}={s}" for n, s in zip(names, self.shape, strict=True))
        return f"DeviceMesh(({shown}), '{self.device_type}', {self.mesh.tolist()})"


def init_device_mesh(
    device_type: str,
    mesh_shape: tuple[int, ...],
    *,
    mesh_dim_names: tuple[str, ...] | None = None,
) -> DeviceMesh:
    """All ranks in their order as an array; the default group is made if there is none.

    Args:
        device_type: without an index, such as ``cpu``.
        mesh_shape: whose product is the number of processes.
        mesh_dim_names: one for each dimension, each another one.

    Raises:
        RuntimeError: for names that do not fit, a device with an index, or another number of processes.
    """
    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) != len(mesh_dim_names):
            raise RuntimeError(
                f"Each mesh_dim_name must be unique. Found repeated mesh_dim_name in {mesh_dim_names}"
            )
        if len(mesh_shape) != len(mesh_dim_names):
            raise RuntimeError(
                f"mesh_shape and mesh_dim_names should have same length! Found len(mesh_dim_names): "
                f"{len(mesh_dim_names)} and len(mesh_shape):{len(mesh_shape)}."
            )
    if not device_type.isalpha():
        raise RuntimeError(
            f"Device type with index is not supported but got {device_type}. If you maintained a "
            f"'torch.device' object, it's recommended to pass in 'device.type'."
        )
    if WORLD.group is None:
        init_process_group()
    if math.prod(mesh_shape) != default_group().size():
        raise RuntimeError(
            f"Mesh should not be bigger than default world size {default_group().size()}, but found "
            f"{math.prod(mesh_shape)}: the shape {tuple(mesh_shape)} must have as many ranks"
        )
    whole = make(list(default_group().ranks)).reshape(list(mesh_shape))
    return DeviceMesh(device_type, whole, mesh_dim_names=mesh_dim_names)
