"""Convolution, its transpose, and the gradients of its weights."""

from __future__ import annotations

from typing import Any

from mindtorch_core.operators.nn.convolution_shapes import geometry
from mindtorch_core.shapes import numel

from ..creation import fill
from .copying import copied
from .matmul import precision
from .operands import contiguous, empty, made, reshaped, takes
from .steps import Call, Work, rule_of, steps

__all__: list[str] = []

# The operators tell the number of spatial dimensions by the number of all of them.
_MOST_DIMS = 5


@steps("aten::convolution")
def convolution(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> Work | None:  # fmt: skip
    """Cross-correlation with filters, or its transpose."""
    options = stride, padding, dilation, transposed, output_padding, groups
    spec = rule_of("convolution")(input, weight, bias, *options)
    d = input._dtype
    if not takes("Convolution", d) or len(input._shape) > _MOST_DIMS:
        return None
    out = made(spec, input._device)
    if not numel(input._shape) or not numel(weight._shape):
        if bias is None:
            return out, fill(out, 0)
        calls: list[Call] = []
        column = reshaped(contiguous(bias, calls), (spec.shape[1], *(1,) * (len(spec.shape) - 2)))
        return out, calls + copied(out, column)
    at = geometry(input, weight, bias, *options)
    arguments = (
        input, weight, bias, at.stride, at.padding, at.dilation, transposed, at.output_padding, groups,
        out, precision(),
    )  # fmt: skip
    return out, [("Convolution", arguments)]


@steps("aten::_convolution_weight")
def convolution_weight(
    input: Any, grad: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Work | None:
    """Gradient of a convolution for its weight."""
    spec = rule_of("_convolution_weight")(
        input, grad, kernel_size, stride, padding, dilation, groups
    )
    d, on = input._dtype, input._device
    if not takes("ConvolutionBackward", d) or len(input._shape) > _MOST_DIMS:
        return None
    if grad._dtype is not d or not numel(input._shape) or not numel(grad._shape):
        return None
    weight = empty(spec.shape, d, on)  # only its shape is read
    at = geometry(
        input, weight, None, stride, padding, dilation, False, (0,) * len(kernel_size), groups
    )
    if at.out != grad._shape[2:]:  # windows reach over the padding, or some are left out
        return None
    calls: list[Call] = []
    result = empty(spec.shape, d, on)
    calls.append(("ConvolutionBackward", (
        contiguous(grad, calls), input, weight, [grad._shape[1]], at.stride, at.padding, at.dilation,
        False, at.output_padding, groups, [False, True, False], precision(), None, result, None,
    )))  # fmt: skip
    return result, calls
