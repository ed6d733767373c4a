"""`mindtorch_nn.attention` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.attention import (
    SDPBackend as SDPBackend,
    sdpa_kernel as sdpa_kernel,
)
from mindtorch_core.nn.attention import (
    bias as bias,
    flex_attention as flex_attention,
)
