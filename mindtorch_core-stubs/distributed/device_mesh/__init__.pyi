"""`mindtorch_core.ecosystem.distributed.device_mesh` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.distributed.device_mesh import (
    DeviceMesh as DeviceMesh,
    init_device_mesh as init_device_mesh,
)
