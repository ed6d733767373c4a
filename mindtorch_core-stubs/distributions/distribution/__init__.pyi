"""`mindtorch_nn.distributions.distribution` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.distributions.distribution import (
    Distribution as Distribution,
)
