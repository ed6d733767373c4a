"""`mindtorch_core.ecosystem.backends.mkldnn` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.backends.mkldnn import (
    enabled as enabled,
    flags as flags,
    is_acl_available as is_acl_available,
    is_available as is_available,
    set_flags as set_flags,
)
