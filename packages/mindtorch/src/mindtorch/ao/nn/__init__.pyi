"""`mindtorch_core.ao.nn` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ao.nn import *
