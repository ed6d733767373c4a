"""`mindtorch_core.autograd.function` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.autograd.function import (
    Function as Function,
    FunctionCtx as FunctionCtx,
    InplaceFunction as InplaceFunction,
    once_differentiable as once_differentiable,
)
