"""Convolution, its transpose, and the gradients of its weights."""

from __future__ import annotations

from typing import Any

from mindtorch_core.backend import convolution_geometry, numel

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
    d = input.raw_dtype
    if not takes("Convolution", d) or len(input.raw_shape) > _MOST_DIMS:
        return None
    out = made(spec, input.raw_device)
    if not numel(input.raw_shape) or not numel(weight.raw_shape):
        if bias is None:
            return out, fill(out, 0)
        calls: list[Call] = []
        column = reshaped(contiguous(bias, calls), (spec.shape[1], *(1,) * (len(spec.shape) - 2)))
        return out, calls + copied(out, column)
    at = convolution_geometry(input, weight, bias, *options)
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
    d, on = input.raw_dtype, input.raw_device
    if not takes("ConvolutionBackward", d) or len(input.raw_shape) > _MOST_DIMS:
        return None
    if grad.raw_dtype is not d or not numel(input.raw_shape) or not numel(grad.raw_shape):
        return None
    weight = empty(spec.shape, d, on)  # only its shape is read
    at = convolution_geometry(
        input, weight, None, stride, padding, dilation, False, (0,) * len(kernel_size), groups
    )
    if at.out != grad.raw_shape[2:]:  # windows reach over the padding, or some are left out
        return None
    calls: list[Call] = []
    result = made(spec, on)
    calls.append(("ConvolutionBackward", (
        contiguous(grad, calls), input, weight, [grad.raw_shape[1]], at.stride, at.padding, at.dilation,
        False, at.output_padding, groups, [False, True, False], precision(), None, result, None,
    )))  # fmt: skip
    return result, calls
