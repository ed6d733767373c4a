"""`mindtorch_nn.data.distributed` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.data.distributed import (
    DistributedSampler as DistributedSampler,
)
