"""`mindtorch_nn.distributions.kl` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.distributions.kl import (
    kl_divergence as kl_divergence,
    register_kl as register_kl,
)
