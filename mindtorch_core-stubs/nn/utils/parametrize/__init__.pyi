"""`mindtorch_nn.utils.parametrize` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.utils.parametrize import (
    ParametrizationList as ParametrizationList,
    cached as cached,
    is_parametrized as is_parametrized,
    register_parametrization as register_parametrization,
    remove_parametrizations as remove_parametrizations,
    transfer_parametrizations_and_params as transfer_parametrizations_and_params,
    type_before_parametrizations as type_before_parametrizations,
)
