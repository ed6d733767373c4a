"""`mindtorch_core.amp` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.amp import (
    GradScaler as GradScaler,
    autocast as autocast,
    custom_bwd as custom_bwd,
    custom_fwd as custom_fwd,
    is_autocast_available as is_autocast_available,
    set_policy as set_policy,
)
from mindtorch_core.amp import (
    autocast_mode as autocast_mode,
    grad_scaler as grad_scaler,
)
