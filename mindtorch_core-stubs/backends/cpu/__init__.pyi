"""`mindtorch_core.ecosystem.backends.cpu` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.backends.cpu import (
    get_cpu_capability as get_cpu_capability,
)
