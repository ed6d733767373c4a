"""`mindtorch_core.utils.tensorboard` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.utils.tensorboard import *
