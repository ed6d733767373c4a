"""`mindtorch_core.numa` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.numa import *
