"""Convolution of any number of spatial dimensions, its transpose, and their gradients.

Three maps, each linear in both operands, are closed under differentiation: inputs and weights give
outputs (convolution), outputs and weights give inputs (transposed convolution), inputs and outputs
give weights. Strides, padding and dilation mean the same in all three.
"""

from __future__ import annotations

from typing import Any, Final

from ...dispatch.functions import fn
from ...dispatch.keys import AUTOGRAD
from ...dispatch.registry import registry
from ...opdefs.define import op
from ...opdefs.formulas import conj
from ...opdefs.rules import format_of, format_of_any, laid
from ...tensors.tensor import Tensor
from ...values.shapes import Shape, numel
from ..elementwise.composed import by_name, has_kernel, widened
from .convolution_shapes import Geometry, geometry, weight_geometry
from .windows import offsets, slid, spread, windows_of

__all__ = ["input_gradient", "weight_gradient"]


def _rule(input: Tensor, weight: Tensor, bias: Tensor | None, *options: Any) -> Any:
    at = geometry(input, weight, bias, *options)
    channels = weight._shape[1] * at.groups if at.transposed else weight._shape[0]
    shape = (input._shape[0], channels, *at.out)
    return laid(shape, input._dtype, format_of_any(input, weight))


def _columns(x: Tensor, at: Geometry, kernel: Shape, out: Shape) -> Any:
    """All windows of an input as matrices: (N, groups, C / groups * kernel, windows)."""
    n = len(kernel)
    batch, channels = x._shape[:2]
    pads = [p for size in reversed(at.padding) for p in (size, size)]
    padded = fn.constant_pad_nd(x, pads) if any(pads) else x.contiguous()
    seen = windows_of(padded, out, kernel, at.stride, at.dilation)
    order = (0, 1, *range(2 + n, 2 + 2 * n), *range(2, 2 + n))
    rows = channels // at.groups * numel(kernel)
    return seen.permute(order).reshape(batch, at.groups, rows, numel(out))


def _forward(x: Tensor, w: Tensor, at: Geometry) -> Any:
    batch, groups = x._shape[0], at.groups
    filters = w._shape[0] // groups
    columns = _columns(x, at, w._shape[2:], at.out)
    matrix = w.reshape(groups, filters, columns._shape[2])
    made = matrix.unsqueeze(0).matmul(columns)
    return made.reshape(batch, groups * filters, *at.out)


def _transposed(y: Tensor, w: Tensor, at: Geometry) -> Any:
    kernel, groups = w._shape[2:], at.groups
    n, batch = len(kernel), y._shape[0]
    filters, channels = y._shape[1] // groups, w._shape[1]
    matrix = w.reshape(groups, filters, channels * numel(kernel)).transpose(1, 2)
    count = y._shape[2:]
    columns = matrix.unsqueeze(0).matmul(y.reshape(batch, groups, filters, numel(count)))
    columns = columns.reshape(batch, groups * channels, *kernel, *count)
    whole = tuple(
        max((c - 1) * s + d * (k - 1) + 1, o + p)
        for c, s, d, k, o, p in zip(
            count, at.stride, at.dilation, kernel, at.out, at.padding, strict=True
        )
    )
    out: Any = y.new_zeros((batch, groups * channels, *whole))
    for place in offsets(kernel):
        part = columns[(slice(None), slice(None), *place)]
        first = [k * d for k, d in zip(place, at.dilation, strict=True)]
        slid(out, first, count, at.stride).add_(part)
    for i in range(n):
        out = out.narrow(2 + i, at.padding[i], at.out[i])
    return out.contiguous()


def _convolution(input: Tensor, weight: Tensor, bias: Tensor | None, *options: Any) -> Tensor:
    at = geometry(input, weight, bias, *options)
    x, w = widened(input), widened(weight)
    if 0 in input._shape or 0 in weight._shape:
        made = x.new_zeros(_rule(input, weight, bias, *options).shape)
    else:
        made = _transposed(x, w, at) if at.transposed else _forward(x, w, at)
    if bias is not None:
        made = made + widened(bias).reshape(-1, *(1,) * len(at.out))
    made = made.to(input._dtype) if made._dtype is not input._dtype else made
    return _laid(made, input, weight)


def _laid(made: Tensor, *operands: Any) -> Tensor:
    """A row-major result, in the memory format that it should have."""
    found = format_of_any(*operands)
    return made.clone(memory_format=found) if found.order else made


def _fitted(t: Any, shape: Shape) -> Any:
    """The leading part of a tensor; a larger output padding than stride leaves more behind it."""
    for i, size in enumerate(shape):
        if t._shape[i] != size:
            t = t.narrow(i, 0, size)
    return t


def input_gradient(
    g: Any, weight: Any, shape: Shape, stride: Any, padding: Any, dilation: Any, transposed: bool,
    groups: int,
) -> Any:  # fmt: skip
    """Gradient of `convolution` for an input of a shape."""
    n = len(shape) - 2
    steps, pads, gaps = (
        spread(v, n, name)
        for v, name in ((stride, "stride"), (padding, "padding"), (dilation, "dilation"))
    )
    weight = conj(weight)
    if transposed:
        whole = fn.convolution(g, weight, None, steps, pads, gaps, False, (0,) * n, groups)
        return _fitted(whole, shape)
    least = [
        (size - 1) * s - 2 * p + d * (k - 1) + 1
        for size, s, p, d, k in zip(g._shape[2:], steps, pads, gaps, weight._shape[2:], strict=True)
    ]
    extra = [size - least[i] for i, size in enumerate(shape[2:])]
    return fn.convolution(g, weight, None, steps, pads, gaps, True, extra, groups)


def weight_gradient(
    g: Any, input: Any, shape: Shape, stride: Any, padding: Any, dilation: Any, transposed: bool,
    groups: int,
) -> Any:  # fmt: skip
    """Gradient of `convolution` for a weight of a shape."""
    x, y = (g, conj(input)) if transposed else (conj(input), g)
    return fn._convolution_weight(x, y, shape[2:], stride, padding, dilation, groups)


def _grads(
    g: Any, input: Any, weight: Any, input_shape: Any, weight_shape: Any, bias_shape: Any, stride: Any,
    padding: Any, dilation: Any, transposed: Any, output_padding: Any, groups: Any, wanted: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Gradients of `convolution`; all at once where the device has a kernel for that."""
    if _has_own(g):
        own = by_name("convolution_backward")
        steps = stride, padding, dilation, transposed, output_padding, groups
        found: tuple[Any, Any, Any] = own(g, input, weight, bias_shape, *steps, list(wanted))
        return found
    g = _as_operands(g, input, weight)
    options = stride, padding, dilation, transposed, groups
    return (
        input_gradient(g, weight, input_shape, *options) if wanted[0] else None,
        weight_gradient(g, input, weight_shape, *options) if wanted[1] else None,
        _bias_gradient(g) if wanted[2] else None,
    )


def _as_operands(g: Any, input: Any, weight: Any) -> Any:
    """A gradient in the memory format in which those of the operands are to be."""
    found = format_of_any(input, weight)
    return g.clone(memory_format=found) if found.order and format_of(g) is not found else g


def _has_own(t: Any) -> bool:
    """Whether the tensor's backend has a kernel of its own for `convolution_backward`."""
    return len(_BACKWARD.kernels) > 1 and has_kernel("convolution_backward", t)


op(
    "convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, "
    "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
    doc="Cross-correlation of (N, C, ...) with filters (O, C / groups, ...), or its transpose.",
    rule=_rule,
    grad=dict.fromkeys(("input", "weight", "bias"), _grads),
    saved_if={
        "input": lambda weight: weight._keys & AUTOGRAD or _has_own(weight),
        "weight": lambda input: input._keys & AUTOGRAD or _has_own(input),
    },
    decomposition=_convolution,
    namespaces=("torch",),
)
op(
    "_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, "
    "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool benchmark, "
    "bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor",
    doc="`convolution` with settings of CUDA's library, which mean nothing here.",
    decomposition=lambda *args: fn.convolution(*args[:9]),
    namespaces=("torch",),
)


def _bias_gradient(g: Any) -> Any:
    return g.sum([0, *range(2, len(g._shape))])


# ---- weights from inputs and outputs ------------------------------------------------------------


def _weight_rule(
    input: Tensor, grad: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
    groups: int,
) -> Any:  # fmt: skip
    at, kernel = weight_geometry(input, grad, kernel_size, stride, padding, dilation, groups)
    shape = (grad._shape[1], input._shape[1] // at.groups, *kernel)
    return laid(shape, input._dtype, format_of_any(input, grad))


def _weight(input: Tensor, grad: Tensor, *options: Any) -> Tensor:
    spec = _weight_rule(input, grad, *options)
    if 0 in input._shape or 0 in grad._shape:
        return input.new_zeros(spec.shape)
    at, kernel = weight_geometry(input, grad, *options)
    x, y = widened(input), widened(grad)
    batch, groups, filters = x._shape[0], at.groups, y._shape[1] // at.groups
    columns = _columns(_covering(x, at, kernel), at, kernel, at.out)
    rows = columns._shape[2]
    columns = columns.permute(1, 0, 3, 2).reshape(groups, -1, rows)
    y = y.reshape(batch, groups, filters, -1).permute(1, 2, 0, 3).reshape(groups, filters, -1)
    return _laid(y.bmm(columns).reshape(spec.shape).to(input._dtype), input, grad)


def _covering(x: Tensor, at: Geometry, kernel: Shape) -> Tensor:
    """The input, with zeros behind it where the last windows reach over its padding."""
    pads: list[int] = []
    for i in reversed(range(len(kernel))):
        reach = (at.out[i] - 1) * at.stride[i] + at.dilation[i] * (kernel[i] - 1) + 1
        pads += [0, max(reach - x._shape[2 + i] - 2 * at.padding[i], 0)]
    return fn.constant_pad_nd(x, pads) if any(pads) else x


def _weight_input(
    g: Any, grad: Any, input_shape: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    return input_gradient(
        conj(grad), conj(g), input_shape, stride, padding, dilation, False, groups
    )


def _weight_grad(
    g: Any, input: Any, grad_shape: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    n = len(grad_shape) - 2
    whole = fn.convolution(conj(input), g, None, stride, padding, dilation, False, (0,) * n, groups)
    return _fitted(whole, grad_shape)


op(
    "_convolution_weight(Tensor input, Tensor grad, SymInt[] kernel_size, SymInt[] stride, "
    "SymInt[] padding, SymInt[] dilation, SymInt groups) -> Tensor",
    doc="Gradient of a convolution for its weight: inputs (N, C, ...) with gradients (N, O, ...).",
    rule=_weight_rule,
    grad={"input": _weight_input, "grad": _weight_grad},
    decomposition=_weight,
    namespaces=("torch",),
)


def _backward(
    grad_output: Any, input: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any,
    dilation: Any, transposed: bool, output_padding: Any, groups: int, output_mask: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    options = stride, padding, dilation, transposed, groups
    inputs, weights, biases = output_mask
    grad_output = _as_operands(grad_output, input, weight)
    return (
        input_gradient(grad_output, weight, input._shape, *options) if inputs else None,
        weight_gradient(grad_output, input, weight._shape, *options) if weights else None,
        _bias_gradient(grad_output) if biases else None,
    )


op(
    "convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, "
    "SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] "
    "output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    doc="Gradients of `convolution` for input, weight and bias; None where the mask is false.",
    decomposition=_backward,
    namespaces=(),
)
_BACKWARD: Final = registry.entry("aten::convolution_backward")  # which takes long to look up
