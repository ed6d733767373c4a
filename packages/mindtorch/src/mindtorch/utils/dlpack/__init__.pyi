"""`mindtorch_core.utils.dlpack` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.utils.dlpack import (
    from_dlpack as from_dlpack,
    to_dlpack as to_dlpack,
)
