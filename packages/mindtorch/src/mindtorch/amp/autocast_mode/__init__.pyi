"""`mindtorch_core.amp.autocast_mode` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.amp.autocast_mode import (
    autocast as autocast,
    autocast_decorator as autocast_decorator,
    custom_bwd as custom_bwd,
    custom_fwd as custom_fwd,
    is_autocast_available as is_autocast_available,
)
