"""`mindtorch_core.sparse` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.sparse import (
    addmm as addmm,
    log_softmax as log_softmax,
    mm as mm,
    softmax as softmax,
    spdiags as spdiags,
    sum as sum,
)
