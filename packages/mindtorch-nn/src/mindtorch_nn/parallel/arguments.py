"""What `DistributedDataParallel` is given, and what its forward returns."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, Final

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.utils._own_frames import warn_user

from ..modules.module import Module
from ..parameter import UninitializedParameter

__all__ = ["bytes_of", "check_devices", "delayed_names", "group_of", "syncs_buffers"]

_BUCKET_MB: Final = 25


def group_of(process_group: Any, device_mesh: Any, parameters: Sequence[Tensor]) -> Any:
    """The processes, told by a group, by a mesh of one dimension, or not at all.

    Raises:
        RuntimeError: for both, or another mesh, and for parameters that are still to get their shapes.
        TypeError: for a group that this process is not in.
        NotImplementedError: for parts of parameters, which other dimensions of a mesh have cut.
    """
    if any(isinstance(p, UninitializedParameter) for p in parameters):
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DistributedDataParallel`. Run a dummy "
            "forward pass to correctly initialize the modules"
        )
    if any(hasattr(p, "placements") for p in parameters):
        raise NotImplementedError(
            "DistributedDataParallel does not sum gradients of DTensors here: use fully_shard with a mesh "
            "of two dimensions"
        )
    if device_mesh is None:
        if process_group == torch.distributed.GroupMember.NON_GROUP_MEMBER:
            raise TypeError(
                "DistributedDataParallel: this process is not in the process group: make the copy on its "
                "members only"
            )
        return process_group or torch.distributed.group.WORLD
    if process_group is not None:
        raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
    if device_mesh.ndim != 1:
        raise RuntimeError(f"Only 1D device mesh is supported, but got {device_mesh}.")
    return device_mesh.get_group(mesh_dim=0)


def bytes_of(bucket_cap_mb: float | None, bucket_cap_mb_list: Sequence[float] | None) -> list[int]:
    """Sizes of buckets, of which the last one is that of all others; 0 has each parameter be alone.

    Raises:
        ValueError: if one is negative.
    """
    one = _BUCKET_MB if bucket_cap_mb is None else bucket_cap_mb
    caps = bucket_cap_mb_list or [one]
    for cap in caps:
        if cap < 0:
            raise ValueError(f"bucket_cap_mb must not be negative, got {cap}")
    return [int(cap * 1024 * 1024) for cap in caps]


def delayed_names(delayed: Any, hooked: Any, named: Sequence[tuple[str, Tensor]]) -> set[str]:
    """Names of the parameters whose gradients are summed last.

    Args:
        delayed: names and parameters that the user gives, or None.
        hooked: the parameter whose gradient PyTorch waits for before it sums them, or None.
        named: the parameters of the module.

    Raises:
        ValueError: for one of two that belong together, or a parameter that the module has not.
    """
    if (delayed is None) != (hooked is None):
        raise ValueError(
            "delay_all_reduce_named_params and param_to_hook_all_reduce need to be set at the same time."
        )
    names = {id(p): name for name, p in named}
    for name, p in [*(delayed or ()), *([] if hooked is None else [("the hooked one", hooked)])]:
        if id(p) not in names:
            raise ValueError(
                f"delay_all_reduce_named_params and param_to_hook_all_reduce: {name} is no parameter of the "
                f"module"
            )
    return {names[id(p)] for _, p in delayed or ()}


def syncs_buffers(broadcast_buffers: bool | None, forward_sync_buffers: bool | None) -> bool:
    """Whether forward begins with rank 0's buffers, by an argument's old and new name."""
    if broadcast_buffers is not None and forward_sync_buffers is not None:
        warn_user(
            "Both `broadcast_buffers` and `forward_sync_buffers` were specified. `broadcast_buffers` is "
            "deprecated and its value is ignored when `forward_sync_buffers` is provided.",
            FutureWarning,
        )
    elif broadcast_buffers is not None:
        warn_user(
            "`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. IMPORTANT: unlike "
            "`broadcast_buffers=False`, `forward_sync_buffers=False` still syncs buffers at init. If you "
            "rely on buffers NOT being synced at init (e.g. rank-local buffers), keep using "
            "`broadcast_buffers=False` until `init_sync_buffers` is available.",
            FutureWarning,
        )
    told = broadcast_buffers if forward_sync_buffers is None else forward_sync_buffers
    return True if told is None else bool(told)


def check_devices(parameters: Sequence[Tensor], device_ids: Any, output_device: Any) -> None:
    """Refuse several devices, and to be told one of what is on the CPU.

    Raises:
        ValueError: saying so.
    """
    if device_ids is not None and len(device_ids) > 1:
        raise ValueError("device_ids can only be None or contain a single element.")
    told = device_ids or output_device is not None
    if told and {p.device.type for p in parameters} == {"cpu"}:
        raise ValueError(
            f"DistributedDataParallel device_ids and output_device are for modules on accelerators: got "
            f"device_ids {device_ids}, output_device {output_device}, and a module on the CPU."
        )


def _find_tensors(obj: Any) -> Iterator[Tensor]:
    """The tensors in what a forward returns: in containers, dataclasses, attributes of other objects."""
    left: list[tuple[Any, bool]] = [(obj, True)]
    seen: set[int] = set()
    while left:
        each, enters = left.pop()
        if isinstance(each, Tensor):
            yield each
        elif id(each) not in seen:
            seen.add(id(each))
            parts = _parts(each)
            if parts is not None:
                left += [(part, enters) for part in reversed(parts)]
            elif enters and not isinstance(each, Module | type | ModuleType):
                left += [(part, False) for part in getattr(each, "__dict__", {}).values()]


def _parts(found: Any) -> list[Any] | None:
    """What is in a container; None for other objects."""
    if isinstance(found, Mapping):
        return [*found.values()]
    if isinstance(found, list | tuple | set | deque):
        return [*found]
    if dataclasses.is_dataclass(found) and not isinstance(found, type):
        return [getattr(found, field.name, None) for field in dataclasses.fields(found)]
    return None
