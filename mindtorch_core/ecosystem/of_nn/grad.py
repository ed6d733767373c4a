"""``torch.nn.grad``: the gradients of convolutions, for programs that want them by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...opdefs.torch_ops import ops
from ...tensors.tensor import Tensor

__all__ = [
    "conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight",
]  # fmt: skip


def _each(value: int | Sequence[int], n: int) -> list[int]:
    return [value] * n if isinstance(value, int) else [*value]


def _gradient(
    x: Tensor, weight: Tensor, grad: Tensor, n: int, which: int, stride: Any, padding: Any, dilation: Any,
    groups: int,
) -> Tensor:  # fmt: skip
    made: Tensor = ops.aten.convolution_backward(
        grad, x, weight, None, _each(stride, n), _each(padding, n), _each(dilation, n), False, [0] * n,
        groups, [which == 0, which == 1, False],
    )[which]  # fmt: skip
    return made


def _of_input(n: int) -> Any:
    def conv_input(
        input_size: Sequence[int],
        weight: Tensor,
        grad_output: Tensor,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> Tensor:
        """The gradient of a convolution for its input, whose size is given."""
        x = grad_output.new_empty(1).expand(tuple(input_size))
        return _gradient(x, weight, grad_output, n, 0, stride, padding, dilation, groups)

    return _named(conv_input, f"conv{n}d_input")


def _of_weight(n: int) -> Any:
    def conv_weight(
        input: Tensor,
        weight_size: Sequence[int],
        grad_output: Tensor,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> Tensor:
        """The gradient of a convolution for its filters, whose size is given."""
        weight = grad_output.new_empty(1).expand(tuple(weight_size))
        return _gradient(input, weight, grad_output, n, 1, stride, padding, dilation, groups)

    return _named(conv_weight, f"conv{n}d_weight")


def _named(function: Any, name: str) -> Any:
    function.__name__ = function.__qualname__ = name
    return function


conv1d_input, conv2d_input, conv3d_input = (_of_input(n) for n in (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = (_of_weight(n) for n in (1, 2, 3))
