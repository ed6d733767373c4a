"""``torch.distributed.device_mesh``."""

from __future__ import annotations

from ...communication.mesh import DeviceMesh, init_device_mesh
from ...communication.mesh_setup import CURRENT as _mesh_resources  # noqa: F401

__all__ = ["DeviceMesh", "init_device_mesh"]
