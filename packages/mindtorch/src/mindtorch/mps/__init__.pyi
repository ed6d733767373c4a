"""`mindtorch_core.mps` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.mps import *
