"""`mindtorch_core.ecosystem.utilities.tensorboard` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.utilities.tensorboard import *
