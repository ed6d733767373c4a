"""`mindtorch_nn.attention.bias` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.attention.bias import (
    CausalBias as CausalBias,
    CausalVariant as CausalVariant,
    causal_lower_right as causal_lower_right,
    causal_upper_left as causal_upper_left,
)
