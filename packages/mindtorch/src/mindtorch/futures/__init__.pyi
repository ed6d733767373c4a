"""`mindtorch_core.futures` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.futures import *
