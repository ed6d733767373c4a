"""`mindtorch_core.ecosystem.onnx` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.onnx import (
    is_in_onnx_export as is_in_onnx_export,
    register_custom_op_symbolic as register_custom_op_symbolic,
    unregister_custom_op_symbolic as unregister_custom_op_symbolic,
)
