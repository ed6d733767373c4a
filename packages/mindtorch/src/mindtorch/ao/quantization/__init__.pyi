"""`mindtorch_core.ao.quantization` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ao.quantization import *
