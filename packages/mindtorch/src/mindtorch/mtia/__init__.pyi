"""`mindtorch_core.mtia` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.mtia import *
