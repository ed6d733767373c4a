"""`mindtorch_core.ecosystem.of_nn.grad` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.of_nn.grad import (
    conv1d_input as conv1d_input,
    conv1d_weight as conv1d_weight,
    conv2d_input as conv2d_input,
    conv2d_weight as conv2d_weight,
    conv3d_input as conv3d_input,
    conv3d_weight as conv3d_weight,
)
