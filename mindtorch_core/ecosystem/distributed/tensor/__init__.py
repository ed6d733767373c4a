"""``torch.distributed.tensor``: tensors of which each process holds a part."""

from __future__ import annotations

import importlib
from typing import Any, Final

from ....communication.mesh import DeviceMesh, init_device_mesh
from ....communication.sharded.dtensor import DTensor, rebuilt
from ....communication.sharded.making import (
    distribute_module,
    distribute_tensor,
    empty,
    full,
    ones,
    rand,
    randn,
    zeros,
)
from ....communication.sharded.placements import Partial, Placement, Replicate, Shard
from ....serialization import add_safe_globals
from ...absent import names_of

__all__ = [
    "DTensor",
    "DeviceMesh",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "distribute_module",
    "distribute_tensor",
    "empty",
    "full",
    "init_device_mesh",
    "ones",
    "rand",
    "randn",
    "zeros",
]

# What files of DTensors name.
add_safe_globals([rebuilt, DTensor, DeviceMesh, Shard, Replicate, Partial])

_BELOW: Final = ("device_mesh", "parallel", "placement_types")  # programs do not always import them
_absent = names_of(__name__)


def __getattr__(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{name}") if name in _BELOW else _absent(name)
