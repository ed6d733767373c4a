"""`mindtorch_nn.utils.parametrizations` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.utils.parametrizations import (
    orthogonal as orthogonal,
    spectral_norm as spectral_norm,
    weight_norm as weight_norm,
)
