"""`mindtorch_core.ecosystem.distributed.tensor` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.distributed.tensor import (
    DTensor as DTensor,
    DeviceMesh as DeviceMesh,
    Partial as Partial,
    Placement as Placement,
    Replicate as Replicate,
    Shard as Shard,
    distribute_module as distribute_module,
    distribute_tensor as distribute_tensor,
    empty as empty,
    full as full,
    init_device_mesh as init_device_mesh,
    ones as ones,
    rand as rand,
    randn as randn,
    zeros as zeros,
)
