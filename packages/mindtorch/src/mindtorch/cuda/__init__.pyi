"""`mindtorch_core.cuda` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.cuda import (
    amp as amp,
)
