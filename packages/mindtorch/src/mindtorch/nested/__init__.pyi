"""`mindtorch_core.nested` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.nested import *
