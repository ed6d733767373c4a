"""`mindtorch_core.ecosystem.utilities.deterministic` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.utilities.deterministic import (
    fill_uninitialized_memory as fill_uninitialized_memory,
)
