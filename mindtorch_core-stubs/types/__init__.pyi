"""`mindtorch_core.ecosystem.types` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.types import (
    Device as Device,
    FileLike as FileLike,
    Number as Number,
    Storage as Storage,
    Tensor as Tensor,
)
