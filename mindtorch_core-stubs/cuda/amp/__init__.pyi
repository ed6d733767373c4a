"""`mindtorch_core.ecosystem.cuda.amp` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.cuda.amp import (
    GradScaler as GradScaler,
    autocast as autocast,
    custom_bwd as custom_bwd,
    custom_fwd as custom_fwd,
)
