"""`mindtorch_core.ecosystem.torch_version` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.torch_version import (
    TorchVersion as TorchVersion,
)
