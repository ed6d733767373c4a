"""`mindtorch_nn.parallel.distributed` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.parallel.distributed import (
    DistributedDataParallel as DistributedDataParallel,
)
