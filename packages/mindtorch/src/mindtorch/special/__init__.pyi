"""`mindtorch_core.special` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.special import *
