"""`mindtorch_core.utils.flop_counter` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.utils.flop_counter import (
    FlopCounterMode as FlopCounterMode,
    flop_registry as flop_registry,
    get_shape as get_shape,
    register_flop_formula as register_flop_formula,
    shape_wrapper as shape_wrapper,
)
