"""What modules outside mindtorch-nn call of PyTorch's compiled part."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

__all__ = ["_parse_to"]

# Functions of `torch.nn.functional` that PyTorch's pickles call by this module.
_FUNCTIONS: Final = (
    "avg_pool2d", "avg_pool3d", "elu_", "gelu", "hardtanh_", "leaky_relu_", "linear", "one_hot",
    "scaled_dot_product_attention", "softplus", "softshrink",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "log_sigmoid":
        name = "logsigmoid"
    elif name not in _FUNCTIONS:
        raise AttributeError(f"module 'torch._C._nn' has no attribute {name!r}", name=name)
    return getattr(import_module("mindtorch_core.nn.functional"), name)


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """Device, dtype, non_blocking and memory_format of the arguments of ``Module.to``."""
    found: tuple[Any, Any, bool, Any] = import_module("mindtorch_nn.modules.conversion")._parse_to(
        *args, **kwargs
    )
    return found
