"""`mindtorch_core.distributed.distributed_c10d` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.distributed.distributed_c10d import (
    ProcessGroup as ProcessGroup,
    _check_single_tensor as _check_single_tensor,
    _get_default_group as _get_default_group,
    _get_default_store as _get_default_store,
    _get_process_group_name as _get_process_group_name,
)
