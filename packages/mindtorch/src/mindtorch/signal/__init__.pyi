"""`mindtorch_core.signal` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.signal import (
    windows as windows,
)
