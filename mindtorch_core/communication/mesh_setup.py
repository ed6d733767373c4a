"""What is there before a mesh is made: a group, a device, choices of backends, the mesh of a block."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from ..values.devices import get_device_module
from .beginning import init_process_group
from .groups import WORLD, default_group

if TYPE_CHECKING:
    from .mesh import DeviceMesh

__all__ = ["ANY", "CURRENT", "backends_of", "ready"]

ANY: Final = (None, None)  # the default group's backend, and no options


class _Current(threading.local):
    """The meshes whose blocks the thread is in."""

    def __init__(self) -> None:
        self.mesh_stack: list[DeviceMesh] = []

    def get_current_mesh(self) -> DeviceMesh:
        """The innermost one.

        Raises:
            RuntimeError: if there is none.
        """
        if not self.mesh_stack:
            raise RuntimeError("No device mesh is currently active!")
        return self.mesh_stack[-1]


CURRENT: Final = _Current()


def ready(device_type: str, ranks: Sequence[int]) -> None:
    """Begin the default group if there is none, and choose this process's device if nobody has.

    Raises:
        RuntimeError: if a rank is named twice, or there is no such rank.
    """
    if WORLD.group is None:
        init_process_group()
    size = default_group().size()
    if len(ranks) > size:
        raise RuntimeError(
            f"Mesh should not be bigger than default world size {size}, but found {len(ranks)} ranks!"
        )
    if len(set(ranks)) < len(ranks):
        raise RuntimeError(f"DeviceMesh cannot have a rank twice: {list(ranks)}")
    if wrong := [rank for rank in ranks if not 0 <= rank < size]:
        raise RuntimeError(f"DeviceMesh has ranks {wrong}, but there are only 0 to {size - 1}")
    if device_type in ("cpu", "meta"):
        return
    module = get_device_module(device_type)
    count = module.device_count()
    if count and not getattr(module, "is_initialized", lambda: True)():
        own = os.environ.get("LOCAL_RANK", default_group().position % count)
        module.set_device(int(own))


def backends_of(
    given: dict[Any, Any], ndim: int, names: Sequence[str] | None = None
) -> tuple[Any, ...]:
    """For each dimension its backend and options, as they are given by number or by name.

    Raises:
        RuntimeError: for a dimension that there is not, or that is given twice.
    """
    left, found = dict(given), []
    for dim in range(ndim):
        keys = [key for key in (dim, names[dim] if names else dim) if key in left]
        if len(set(keys)) > 1:
            raise RuntimeError(
                f"Found redundant dim index {keys[0]} and name {keys[1]} in backend_override"
            )
        chosen: Any = left.pop(keys[0]) if keys else ANY
        if not isinstance(chosen, tuple):
            chosen = (chosen, None) if isinstance(chosen, str) else (None, chosen)
        found.append(chosen)
    if left:
        raise RuntimeError(
            f"Found invalid keys in backend_override: got {[*left]}, expected integers in range "
            f"[0, {ndim}) or one of {tuple(names or ())}"
        )
    return tuple(found)
