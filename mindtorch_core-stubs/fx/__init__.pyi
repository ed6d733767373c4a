"""`mindtorch_core.ecosystem.fx` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.fx import (
    wrap as wrap,
)
