"""`mindtorch_core.quasirandom` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.quasirandom import (
    SobolEngine as SobolEngine,
)
