"""`mindtorch_core.ecosystem.quasirandom` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.quasirandom import (
    SobolEngine as SobolEngine,
)
