"""`mindtorch_core.sparse` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.sparse import (
    addmm as addmm,
    check_sparse_tensor_invariants as check_sparse_tensor_invariants,
    log_softmax as log_softmax,
    mm as mm,
    sampled_addmm as sampled_addmm,
    softmax as softmax,
    spdiags as spdiags,
    sum as sum,
)
