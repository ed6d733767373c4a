"""`mindtorch_core.cpu` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.cpu import *
