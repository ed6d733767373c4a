"""`mindtorch_core.monitor` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.monitor import *
