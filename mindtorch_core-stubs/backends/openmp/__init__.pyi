"""`mindtorch_core.ecosystem.backends.openmp` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.backends.openmp import (
    is_available as is_available,
)
