"""`mindtorch_core.utils.data.distributed` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.utils.data.distributed import (
    DistributedSampler as DistributedSampler,
)
