"""`DeviceMesh`: ranks in rows and columns, and the groups along each dimension."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

from ..frontend.creation import tensor as make
from ..tensors.tensor import Tensor
from ..values.dtypes import int32
from ..values.interrupts import leaving
from ..values.user_warnings import warn_user
from .beginning import new_group
from .groups import WORLD, ProcessGroup, default_group, group_named
from .mesh_axes import Axis, are_apart, axis_of, cut, length, row_major, rows
from .mesh_setup import ANY, CURRENT, backends_of, ready

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """An array of ranks. All processes make it together; each is in one group along each dimension.

    As a context manager it is the mesh of tensors that are given none.

    Args:
        device_type: of the devices that the ranks use.
        mesh: the ranks, as nested lists or a tensor of whole numbers.
        mesh_dim_names: names of the dimensions.
        backend_override: for each dimension the backend of its groups and its options, or None.
        _init_backend: whether the groups are made.
        _rank: this process's, if it is not the one in the default group.

    Raises:
        TypeError: without a mesh.
        RuntimeError: if a rank is named twice, or there is no such rank.
        ValueError: if ``backend_override`` has not one for each dimension.
    """

    _groups: list[ProcessGroup] | None

    def __init__(
        self,
        device_type: str,
        mesh: Any = None,
        *,
        mesh_dim_names: tuple[str, ...] | None = None,
        backend_override: tuple[Any, ...] | None = None,
        _init_backend: bool = True,
        _rank: int | None = None,
    ) -> None:
        if mesh is None:
            raise TypeError(
                "The mesh argument is required (the ranks, as nested lists or a tensor)"
            )
        given = mesh.detach() if isinstance(mesh, Tensor) else make(mesh, device="cpu")
        ranks = tuple(int(rank) for rank in given.flatten().tolist())
        axes = row_major(tuple(given.shape))
        if backend_override is not None and len(backend_override) != len(axes):
            raise ValueError(
                f"backend_override should have the same length as the number of mesh dimensions, but got "
                f"{len(backend_override)} and {len(axes)}."
            )
        if _init_backend:
            ready(device_type, ranks)
        self._begin(device_type, ranks, axes, mesh_dim_names, None)
        self._rank = default_group().position if _rank is None else _rank
        if _init_backend:
            self._groups = self._made(axes, self.mesh_dim_names, backend_override)

    def _begin(
        self,
        device_type: str,
        ranks: tuple[int, ...],
        axes: tuple[Axis, ...],
        names: Sequence[str] | None,
        root: DeviceMesh | None,
    ) -> None:
        self.device_type = device_type
        self.mesh_dim_names = tuple(names) if names else None
        self._flat = ranks
        self._axes = axes
        self._root_mesh = root
        self._flatten_mapping: dict[str, DeviceMesh] = {}
        self._groups = None

    def _part(
        self, axes: Sequence[Axis], names: Sequence[str], groups: Sequence[ProcessGroup]
    ) -> DeviceMesh:
        """Another mesh of the same ranks."""
        made = DeviceMesh.__new__(DeviceMesh)
        made._begin(self.device_type, self._flat, tuple(axes), names, self._get_root_mesh())
        made._rank, made._groups = self._rank, list(groups)
        return made

    def _made(
        self,
        axes: Sequence[Axis],
        names: Sequence[str] | None,
        backends: Sequence[Any] | None,
    ) -> list[ProcessGroup]:
        """This process's group along each axis; all processes make all groups, in one order."""
        found = []
        for i, axis in enumerate(axes):
            backend, options = backends[i] if backends else ANY
            desc = f"mesh_{names[i] if names else f'dim_{i}'}"
            for row in rows(self._flat, [axis]):
                made: Any = WORLD.group
                if row != list(default_group().ranks) or (backend, options) != ANY:
                    made = new_group(
                        row, getattr(options, "_timeout", None), backend, options,
                        group_desc=desc, sort_ranks=False,
                    )  # fmt: skip
                if self._rank in row:
                    found.append(made)
        return found

    # ---- its shape ---------------------------------------------------------------------------------

    @property
    def mesh(self) -> Tensor:
        """The ranks, as a tensor of whole numbers; of a part, those among which this process is.

        Raises:
            RuntimeError: if it is a part, and the process is in none.
        """
        found = rows(self._flat, self._axes)
        own = next((row for row in found if self._rank in row), found[0])
        if len(found) > 1 and self._rank not in own:
            raise RuntimeError(
                "In order to get the mesh Tensor of a DeviceMesh it needs to either have all its original "
                f"dimensions (e.g., no slicing) or it needs to contain the local rank {self._rank}"
            )
        return make(own, dtype=int32, device="cpu").reshape(list(self.shape))

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of ranks along the dimensions."""
        return tuple(length(axis) for axis in self._axes)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._axes)

    def size(self, mesh_dim: int | None = None) -> int:
        """How many ranks there are, or how many along a dimension."""
        return math.prod(self.shape) if mesh_dim is None else self.shape[mesh_dim]

    def get_rank(self) -> int:
        """This process's rank in the default group."""
        return self._rank

    def get_coordinate(self) -> tuple[int, ...] | None:
        """Where this process is; None if it is not in the mesh."""
        row = next((row for row in rows(self._flat, self._axes) if self._rank in row), None)
        if row is None:
            return None
        place, found = row.index(self._rank), []
        for size in reversed(self.shape):
            place, within = divmod(place, size)
            found.append(within)
        return tuple(reversed(found))

    def _is_current_rank_part_of_mesh(self) -> bool:
        return self._rank in self._flat

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """This process's position along a dimension, which must be named if there are several.

        Raises:
            RuntimeError: if it is not named, or the process is not in the mesh.
        """
        return self.get_group(mesh_dim).rank()

    # ---- its groups ---------------------------------------------------------------------------------

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """The group of this process along a dimension, which must be named if there are several.

        Raises:
            RuntimeError: if it is not named, no groups were made, or the process is not in the mesh.
            KeyError: if there is no dimension of that name.
        """
        if self._groups is None:
            raise RuntimeError("DeviceMesh process groups not initialized!")
        if mesh_dim is None and self.ndim > 1:
            raise RuntimeError(
                f"Found the DeviceMesh have {self.ndim} dimensions. Optional kwarg `mesh_dim` needs to be "
                f"specified when device_mesh.ndim > 1. If you want to get the list of all the "
                f"ProcessGroups in the DeviceMesh, please use `get_all_groups()` instead."
            )
        if not self._groups:
            raise RuntimeError(f"rank {self._rank} is not in {self}, so it has no group there")
        if isinstance(mesh_dim, str):
            if mesh_dim in self._get_root_mesh()._flatten_mapping:
                return self._get_root_mesh()._flatten_mapping[mesh_dim].get_group()
            mesh_dim = self._get_mesh_dim_by_name(mesh_dim)
        return self._groups[mesh_dim or 0]

    def get_all_groups(self) -> list[ProcessGroup]:
        """The groups of this process along all dimensions."""
        return [self.get_group(dim) for dim in range(self.ndim)]

    def _get_mesh_dim_by_name(self, name: str) -> int:
        if not self.mesh_dim_names:
            raise KeyError("No `mesh_dim_names` found.")
        if name not in self.mesh_dim_names:
            raise KeyError(
                f"Mesh dimension '{name}' does not exist. Available mesh dimensions are: "
                f"mesh_dim_names={self.mesh_dim_names}"
            )
        return self.mesh_dim_names.index(name)

    # ---- its parts ----------------------------------------------------------------------------------

    def __getitem__(self, mesh_dim_names: str | tuple[str, ...]) -> DeviceMesh:
        """The part of the mesh along named dimensions in which this process is.

        Raises:
            KeyError: if there is no such dimension, or they are in another order than in the mesh.
            RuntimeError: if dimensions have no names, or share ranks.
        """
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        if names == self.mesh_dim_names:
            return self
        groups: Sequence[Any] = self._groups or (None,) * self.ndim
        known: dict[str, Any] = dict(
            zip(self.mesh_dim_names, zip(self._axes, groups, strict=True), strict=True)
        )
        flat = self._flatten_mapping if self is self._get_root_mesh() else {}
        for name, each in flat.items():
            known[name] = (each._axes[0], each._groups[0] if each._groups else None)
        if missing := [name for name in names if name not in known]:
            raise KeyError(
                f"Invalid mesh_dim_names {names} specified. Valid mesh_dim_names are {[*known]}."
                f" There is no {missing[0]!r}."
            )
        if any(name in flat for name in names):
            warn_user(
                "Slicing a flattened dim from root mesh will be deprecated in PT 2.11. "
                "Users need to bookkeep the flattened mesh directly. ",
            )
        axes = [known[name][0] for name in names]
        taken = [stride for axis in axes for _, stride in axis]
        if taken != sorted(taken, reverse=True):
            raise KeyError(
                f"Invalid mesh_dim_names {names} specified. "
                "Mesh dim indices should be in ascending order."
            )
        if not are_apart(axes):
            raise RuntimeError(f"Slicing overlapping dim_names {names} is not allowed.")
        return self._part(axes, names, [g for name in names if (g := known[name][1]) is not None])

    def _get_root_mesh(self) -> DeviceMesh:
        return self._root_mesh or self

    def _get_root_mesh_dim(self) -> int | None:
        if not self.mesh_dim_names:
            return None
        (name,) = self.mesh_dim_names
        return self._get_root_mesh()._get_mesh_dim_by_name(name)

    def _get_all_submeshes(self, mesh_dim_name: str) -> list[DeviceMesh]:
        """The parts along a dimension, this process's and the others'."""
        dim = self._get_mesh_dim_by_name(mesh_dim_name)
        found = []
        for row in rows(self._flat, [self._axes[dim]]):
            found.append(
                DeviceMesh(
                    self.device_type, row, mesh_dim_names=(mesh_dim_name,), _init_backend=False
                )
            )
            found[-1]._groups = [self.get_group(dim)] if self._rank in row else []
        return found

    def _flatten(
        self, mesh_dim_name: str | None = None, backend_override: Any = None
    ) -> DeviceMesh:
        """All dimensions as one; all processes of the whole mesh call it."""
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot flatten a DeviceMesh without mesh_dim_names!")
        name = mesh_dim_name or "_".join(self.mesh_dim_names)
        if self.mesh_dim_names == (name,):
            return self
        root = self._get_root_mesh()
        if name in (root.mesh_dim_names or ()):
            raise ValueError(
                f"{name} already exists for submesh of the {root}. The mesh_dim_names of submesh and "
                f"flattened mesh are {root.mesh_dim_names}. Please specify another valid mesh_dim_name."
            )
        axes = (axis_of(pair for axis in self._axes for pair in axis),)
        made = root._flatten_mapping.get(name)
        if made is None:
            backends = None if backend_override is None else backends_of({0: backend_override}, 1)
            made = root._part(axes, (name,), root._made(axes, (name,), backends))
            root._flatten_mapping[name] = made
        elif made._axes != axes:
            raise ValueError(
                f"Flatten mesh with mesh_dim_name {name} has been created before, "
                f"Please specify another valid mesh_dim_name."
            )
        return made

    def _unflatten(
        self,
        dim: int | str,
        mesh_sizes: tuple[int, ...],
        mesh_dim_names: tuple[str, ...],
        backend_override: dict[str, Any] | None = None,
    ) -> DeviceMesh:
        """One dimension as several; all processes of the mesh call it."""
        known = self.mesh_dim_names or ()
        if isinstance(dim, int) and dim >= self.ndim:
            raise ValueError(f"dim {dim} specified in `_unflatten` is out of range {self.ndim}")
        if isinstance(dim, str) and dim not in known:
            raise ValueError(f"dim {dim} specified in `_unflatten` is not in {known}")
        if len(mesh_sizes) != len(mesh_dim_names):
            raise RuntimeError("mesh_dim_names must have same length as mesh_sizes in _unflatten!")
        at = known.index(dim) if isinstance(dim, str) else dim
        if math.prod(mesh_sizes) != self.size(at):
            raise ValueError(
                f"The product of {mesh_sizes=} is {math.prod(mesh_sizes)}, but the original dimension at "
                f"dim={at} has size {self.size(at)}. These must be equal for unflatten to work correctly."
            )
        backends = None
        if backend_override is not None:
            backends = backends_of(backend_override, len(mesh_sizes), mesh_dim_names)
        axes, names, groups = [*self._axes], [*known], [*(self._groups or ())]
        axes[at : at + 1] = inner = cut(self._axes[at], mesh_sizes)
        names[at : at + 1] = mesh_dim_names
        groups[at : at + 1] = self._made(inner, mesh_dim_names, backends)
        return self._part(axes, names, groups)

    @staticmethod
    def _concatenate(device_mesh_list: list[DeviceMesh]) -> DeviceMesh:
        """Dimensions of parts of one mesh as one part."""
        first = device_mesh_list[0]
        if any(each._flat != first._flat for each in device_mesh_list):
            raise RuntimeError(
                "Cannot concatenate DeviceMeshes derived from different device meshs"
            )
        axes = [axis for each in device_mesh_list for axis in each._axes]
        if not are_apart(axes):
            raise RuntimeError(f"Cannot concatenate overlapping meshes: {device_mesh_list}")
        names = [name for each in device_mesh_list for name in each.mesh_dim_names or ()]
        return first._part(
            axes, names, [g for each in device_mesh_list for g in each._groups or ()]
        )

    @staticmethod
    def from_group(
        group: ProcessGroup | list[ProcessGroup],
        device_type: str,
        mesh: Any = None,
        *,
        mesh_dim_names: tuple[str, ...] | None = None,
    ) -> DeviceMesh:
        """A mesh of groups that there are.

        Args:
            group: of one dimension, or of each.
            device_type: of the devices that the ranks use.
            mesh: the ranks; they may be left out for one group.
            mesh_dim_names: names of the dimensions; they may be left out for one group.

        Raises:
            ValueError: if there is no group, the ranks are not the group's, or there are not as many
                dimensions as groups.
        """
        given = mesh.tolist() if isinstance(mesh, Tensor) else mesh
        groups = [group] if isinstance(group, ProcessGroup) else list(group)
        if isinstance(group, ProcessGroup):
            if given is not None and list(given) != list(group.ranks):
                raise ValueError(
                    f"Invalid mesh {mesh} for ProcessGroup with ranks {list(group.ranks)}"
                )
            given = list(group.ranks)
        if not groups:
            raise ValueError("Expects at least one ProcessGroup to be passed")
        if given is None:
            raise ValueError("Must pass mesh if passing multiple ProcessGroups")
        if mesh_dim_names is None and not isinstance(group, ProcessGroup):
            raise ValueError("Must pass mesh_dim_names if passing multiple ProcessGroups")
        made = DeviceMesh(device_type, given, mesh_dim_names=mesh_dim_names, _init_backend=False)
        if made.ndim != len(groups):
            raise ValueError(
                f"Expects mesh with ndim equal to number of ProcessGroups but got mesh {given} and "
                f"{len(groups)} ProcessGroups"
            )
        made._groups = groups
        return made

    # ---- what Python asks ---------------------------------------------------------------------------

    def __enter__(self) -> DeviceMesh:
        CURRENT.mesh_stack.append(self)
        return self

    def _leave(self) -> None:
        del CURRENT.mesh_stack[-1]

    __exit__ = leaving(_leave)

    def __getstate__(self) -> dict[str, Any]:
        names = None if self._groups is None else [group.group_name for group in self._groups]
        return {**self.__dict__, "_groups": names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._groups is not None:
            try:
                self._groups = [group_named(str(name)) for name in self._groups]
            except ValueError:  # it was made in another run: what it describes can still be read
                self._groups = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceMesh) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.device_type, self._flat, self._axes, self.mesh_dim_names

    def __repr__(self) -> str:
        shown: Any = self.shape
        if self.mesh_dim_names:
            pairs = zip(self.mesh_dim_names, self.shape, strict=True)
            shown = f"({', '.join(f'{name}={size}' for name, size in pairs)})"
        strides = [tuple(stride for _, stride in axis) for axis in self._axes]
        stride = tuple(each[0] if len(each) == 1 else each for each in strides)
        more = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "") == "DETAIL"
        ranks = f", Mesh: {self.mesh.tolist()}" if more else ""
        return f"DeviceMesh({shown}, '{self.device_type}', stride={stride}{ranks})"


def init_device_mesh(
    device_type: str,
    mesh_shape: tuple[int, ...],
    *,
    mesh_dim_names: tuple[str, ...] | None = None,
    backend_override: dict[int | str, Any] | None = None,
) -> DeviceMesh:
    """The first ranks in their order as an array; the default group is made if there is none.

    Args:
        device_type: without an index, such as ``cpu``.
        mesh_shape: whose product is the number of processes, or less.
        mesh_dim_names: one for each dimension, each another one.
        backend_override: by a dimension's number or name, the backend of its groups, options, or both.

    Raises:
        RuntimeError: for names that do not fit, a device with an index, or more ranks than there are.
    """
    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) != len(mesh_dim_names):
            raise RuntimeError(
                f"Each mesh_dim_name must be unique. Found repeated mesh_dim_name in mesh_dim_names "
                f"{mesh_dim_names}"
            )
        if len(mesh_shape) != len(mesh_dim_names):
            raise RuntimeError(
                f"mesh_shape and mesh_dim_names should have same length! Found len(mesh_dim_names): "
                f"{len(mesh_dim_names)} and len(mesh_shape):{len(mesh_shape)}."
            )
    backends = None
    if backend_override is not None:
        backends = backends_of(backend_override, len(mesh_shape), mesh_dim_names)
    if device_type and not device_type.isalpha():
        raise RuntimeError(
            f"Device type with index is not supported but got {device_type}. If you maintained a "
            f"'torch.device' object, it's recommended to pass in 'device.type'."
        )
    if any(n < 0 for n in mesh_shape):
        raise RuntimeError(f"mesh_shape must have no negative sizes, got {tuple(mesh_shape)}")
    whole = make([*range(math.prod(mesh_shape))], device="cpu").reshape(list(mesh_shape))
    return DeviceMesh(device_type, whole, mesh_dim_names=mesh_dim_names, backend_override=backends)
