"""`mindtorch_core.masked` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.masked import *
