"""`mindtorch_core.cuda` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.cuda import (
    AcceleratorError as AcceleratorError,
    CudaError as CudaError,
    DeferredCudaCallError as DeferredCudaCallError,
    OutOfMemoryError as OutOfMemoryError,
    cudaStatus as cudaStatus,
)
from mindtorch_core.cuda import (
    amp as amp,
)
