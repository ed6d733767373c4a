"""`mindtorch_nn.parallel` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.parallel import (
    DataParallel as DataParallel,
    DistributedDataParallel as DistributedDataParallel,
    data_parallel as data_parallel,
)
from mindtorch_core.nn.parallel import (
    distributed as distributed,
)
