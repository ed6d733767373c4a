"""`mindtorch_core.masked` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.masked import (
    MaskedTensor as MaskedTensor,
    as_masked_tensor as as_masked_tensor,
    is_masked_tensor as is_masked_tensor,
    masked_tensor as masked_tensor,
)
