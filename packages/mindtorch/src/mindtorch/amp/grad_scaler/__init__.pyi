"""`mindtorch_core.amp.grad_scaler` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.amp.grad_scaler import (
    GradScaler as GradScaler,
    OptState as OptState,
)
