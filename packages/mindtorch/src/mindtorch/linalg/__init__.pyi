"""`mindtorch_core.linalg` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.linalg import *
