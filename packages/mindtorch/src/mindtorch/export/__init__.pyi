"""`mindtorch_core.export` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.export import *
