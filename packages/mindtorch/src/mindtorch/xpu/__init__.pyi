"""`mindtorch_core.xpu` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.xpu import *
