"""`mindtorch_core.fx` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.fx import (
    wrap as wrap,
)
