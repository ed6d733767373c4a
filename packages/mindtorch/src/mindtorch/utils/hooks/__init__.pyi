"""`mindtorch_core.utils.hooks` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.utils.hooks import (
    RemovableHandle as RemovableHandle,
    unserializable_hook as unserializable_hook,
    warn_if_has_hooks as warn_if_has_hooks,
)
