"""`mindtorch_nn.utils.stateless` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.utils.stateless import (
    functional_call as functional_call,
)
