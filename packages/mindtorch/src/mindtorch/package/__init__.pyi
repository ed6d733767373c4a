"""`mindtorch_core.package` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.package import *
