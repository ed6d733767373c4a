"""`mindtorch_core.ecosystem.backends.mps` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.backends.mps import (
    is_available as is_available,
    is_built as is_built,
    is_macos13_or_newer as is_macos13_or_newer,
    is_macos_or_newer as is_macos_or_newer,
)
