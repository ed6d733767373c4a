"""`mindtorch_core.ecosystem.version` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.version import (
    __version__ as __version__,
    cuda as cuda,
    debug as debug,
    git_version as git_version,
    hip as hip,
    xpu as xpu,
)
