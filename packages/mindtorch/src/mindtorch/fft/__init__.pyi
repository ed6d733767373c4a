"""`mindtorch_core.fft` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.fft import *
