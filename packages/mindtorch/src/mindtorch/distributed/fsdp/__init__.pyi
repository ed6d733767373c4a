"""`mindtorch_core.distributed.fsdp` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.distributed.fsdp import (
    CPUOffloadPolicy as CPUOffloadPolicy,
    FSDPModule as FSDPModule,
    MixedPrecisionPolicy as MixedPrecisionPolicy,
    OffloadPolicy as OffloadPolicy,
    UnshardHandle as UnshardHandle,
    fully_shard as fully_shard,
    register_fsdp_forward_method as register_fsdp_forward_method,
    share_comm_ctx as share_comm_ctx,
)
