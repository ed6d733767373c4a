"""`mindtorch_core.__future__` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.__future__ import (
    get_overwrite_module_params_on_conversion as get_overwrite_module_params_on_conversion,
    get_swap_module_params_on_conversion as get_swap_module_params_on_conversion,
    set_overwrite_module_params_on_conversion as set_overwrite_module_params_on_conversion,
    set_swap_module_params_on_conversion as set_swap_module_params_on_conversion,
)
