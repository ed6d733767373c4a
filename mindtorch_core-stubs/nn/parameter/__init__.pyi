"""`mindtorch_nn.parameter` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.parameter import (
    Buffer as Buffer,
    Parameter as Parameter,
    UninitializedBuffer as UninitializedBuffer,
    UninitializedParameter as UninitializedParameter,
    UninitializedTensorMixin as UninitializedTensorMixin,
    is_lazy as is_lazy,
)
