"""`mindtorch_core.ecosystem.utilities.flop_counter` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.utilities.flop_counter import (
    FlopCounterMode as FlopCounterMode,
)
