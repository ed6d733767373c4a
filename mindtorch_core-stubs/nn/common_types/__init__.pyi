"""`mindtorch_core.ecosystem.of_nn.common_types` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.of_nn.common_types import *
