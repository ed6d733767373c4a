"""`mindtorch_nn.modules.utils` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.modules.utils import (
    consume_prefix_in_state_dict_if_present as consume_prefix_in_state_dict_if_present,
)
