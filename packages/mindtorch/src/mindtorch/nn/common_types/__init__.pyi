"""`mindtorch_core.nn.common_types` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.nn.common_types import *
