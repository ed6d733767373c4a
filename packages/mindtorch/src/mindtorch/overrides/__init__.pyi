"""`mindtorch_core.overrides` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.overrides import (
    BaseTorchFunctionMode as BaseTorchFunctionMode,
    TorchFunctionMode as TorchFunctionMode,
    get_default_nowrap_functions as get_default_nowrap_functions,
    get_ignored_functions as get_ignored_functions,
    get_overridable_functions as get_overridable_functions,
    get_testing_overrides as get_testing_overrides,
    handle_torch_function as handle_torch_function,
    has_torch_function as has_torch_function,
    has_torch_function_unary as has_torch_function_unary,
    has_torch_function_variadic as has_torch_function_variadic,
    is_tensor_like as is_tensor_like,
    is_tensor_method_or_property as is_tensor_method_or_property,
    resolve_name as resolve_name,
    wrap_torch_function as wrap_torch_function,
)
