"""What PyTorch's optimizers share and optimizers of other packages import from there."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import mindtorch_core as torch
from mindtorch_core import Tensor

__all__ = [
    "DeviceDict",
    "DeviceDtypeDict",
    "Indices",
    "StateDict",
    "TensorListList",
    "_disable_dynamo_if_unsupported",
    "_get_scalar_dtype",
    "_get_value",
    "_group_tensors_by_device_and_dtype",
    "_stack_if_compiling",
    "_to_scalar",
    "_view_as_real",
]

F = TypeVar("F", bound=Callable[..., Any])

StateDict: TypeAlias = dict[str, Any]
DeviceDict: TypeAlias = dict[Any, Tensor]
DeviceDtypeDict: TypeAlias = dict[Any, Tensor]
TensorListList: TypeAlias = list[list[Tensor | None]]
Indices: TypeAlias = list[int]


def _group_tensors_by_device_and_dtype(
    tensorlistlist: TensorListList, with_indices: bool = False
) -> dict[Any, tuple[TensorListList, Indices]]:
    """Lists that belong together, by the devices and dtypes of the first one's tensors."""
    function = importlib.import_module("mindtorch_core.utils._foreach_utils")
    found: dict[Any, tuple[TensorListList, Indices]] = function._group_tensors_by_device_and_dtype(
        tensorlistlist, with_indices
    )
    return found


def _get_value(x: Any) -> Any:
    """The number of a tensor of one element, or a number itself."""
    return x.item() if isinstance(x, Tensor) else x


def _to_scalar(x: Any) -> Any:
    """A tensor of one element without dimensions; a number itself."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() != 0 else x


def _stack_if_compiling(x: Any) -> Any:
    """The list itself: nothing is compiled."""
    return x


def _disable_dynamo_if_unsupported(single_tensor_fn: Any = None) -> Callable[[F], F]:
    """A decorator that gives the function back: nothing is compiled."""
    return lambda function: function


def _get_scalar_dtype(is_fused: bool | None = None) -> Any:
    """The dtype that steps are counted in."""
    double = torch.get_default_dtype() == torch.float64 and not is_fused
    return torch.float64 if double else torch.float32


def _view_as_real(params: list[Tensor], *state_and_grads: list[Tensor]) -> None:
    """Put, in the lists, views as real numbers in the place of complex tensors."""
    for i, p in enumerate(params):
        if torch.is_complex(p):
            params[i] = torch.view_as_real(p)
            for each in state_and_grads:
                each[i] = torch.view_as_real(each[i])
