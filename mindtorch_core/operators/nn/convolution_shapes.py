"""Arguments of convolutions: checked, one number per spatial dimension, and the result's shape."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...tensors.tensor import Tensor
from ...values.dtypes import BOOL, dtype
from ...values.shapes import Shape, show
from .windows import spread, window_count

__all__ = ["Geometry", "geometry", "weight_geometry"]

_C_NAMES = {"float32": "float", "float64": "double", "float16": "c10::Half",
            "bfloat16": "c10::BFloat16", "int64": "long int", "int32": "int"}  # fmt: skip


class Geometry(NamedTuple):
    """A convolution's numbers, one per spatial dimension, and its result's spatial shape."""

    stride: Shape
    padding: Shape
    dilation: Shape
    transposed: bool
    output_padding: Shape
    groups: int
    out: Shape


def geometry(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Geometry:
    """Check the arguments of a convolution.

    Raises:
        RuntimeError: if shapes, dtypes or numbers do not fit together.
    """
    n = len(weight._shape) - 2
    if n < 1:
        raise RuntimeError(f"weight should have at least three dimensions, got {n + 2}")
    stride = spread(stride, n, "stride")
    padding = spread(padding, n, "padding")
    dilation = spread(dilation, n, "dilation")
    output_padding = spread(output_padding, n, "output_padding")
    _check_numbers(stride, padding, dilation, output_padding, groups, transposed)
    _check_dtypes(input, weight, bias)
    _check_channels(input._shape, weight._shape, bias, groups, transposed)
    out = []
    kernel, sizes = weight._shape[2:], input._shape[2:]
    for i, (k, size) in enumerate(zip(kernel, sizes, strict=True)):
        reach = dilation[i] * (k - 1) + 1
        if transposed:
            out.append((size - 1) * stride[i] - 2 * padding[i] + reach + output_padding[i])
        else:
            out.append(window_count(size, k, stride[i], padding[i], dilation[i]))
    if not transposed and any(k == 0 for k in kernel):
        raise RuntimeError(f"kernel size should be greater than zero, but got shape {show(kernel)}")
    if not transposed and any(n < 1 for n in out):
        padded = [s + 2 * p for s, p in zip(sizes, padding, strict=True)]
        reach_of = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
        raise RuntimeError(
            f"Calculated padded input size per channel: {_crossed(padded)}. Kernel size: "
            f"{_crossed(reach_of)}. Kernel size can't be greater than actual input size"
        )
    if any(size < 0 for size in out) or (transposed and 0 in out):
        raise RuntimeError(
            f"Given input size per channel: {_crossed(sizes)}. Calculated output size per channel: "
            f"{_crossed(out)}. Output size is too small"
        )
    return Geometry(stride, padding, dilation, transposed, output_padding, groups, tuple(out))


def _crossed(sizes: Any) -> str:
    return f"({' x '.join(map(str, sizes))})"


def _check_numbers(
    stride: Shape, padding: Shape, dilation: Shape, extra: Shape, groups: int, transposed: bool
) -> None:
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if any(p < 0 for p in padding):
        raise RuntimeError("negative padding is not supported")
    if any(s <= 0 for s in stride):
        raise RuntimeError("non-positive stride is not supported")
    if any(d <= 0 for d in dilation):
        raise RuntimeError("dilation should be greater than zero")
    if any(p < 0 for p in extra):
        raise RuntimeError("negative output_padding is not supported")
    if transposed and any(p >= max(s, d) for p, s, d in zip(extra, stride, dilation, strict=True)):
        raise RuntimeError(
            f"output padding must be smaller than either stride or dilation, but got output_padding: "
            f"{show(extra)} stride: {show(stride)} dilation: {show(dilation)}"
        )


def _name(d: dtype) -> str:
    return _C_NAMES.get(d.name, d.name)


def _check_dtypes(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    d = input._dtype
    if d.category == BOOL:
        raise NotImplementedError("convolutions are not implemented for 'Bool'")
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and t._dtype is not d:
            raise RuntimeError(
                f"Input type ({_name(d)}) and {name} type ({_name(t._dtype)}) should be the same"
            )


def _check_channels(
    shape: Shape, weight: Shape, bias: Tensor | None, groups: int, transposed: bool
) -> None:
    if len(shape) != len(weight):
        raise RuntimeError(
            f"Expected {len(weight)}-dimensional input for {len(weight)}-dimensional weight "
            f"{show(weight)}, but got {len(shape)}-dimensional input of size {show(shape)} instead"
        )
    if weight[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got "
            f"weight of size {show(weight)} instead"
        )
    if weight[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but "
            f"got weight of size {show(weight)} instead"
        )
    wanted = weight[0] if transposed else weight[1] * groups
    made = weight[1] * groups if transposed else weight[0]
    if shape[1] != wanted:
        raise RuntimeError(
            f"Given {'transposed=1' if transposed else f'groups={groups}'}, weight of size "
            f"{show(weight)}, expected input{show(shape)} to have {wanted} channels, but got "
            f"{shape[1]} channels instead"
        )
    if bias is not None and bias._shape != (made,):
        raise RuntimeError(
            f"Given {'transposed=1' if transposed else ''}weight of size {show(weight)}, expected "
            f"bias to be 1-dimensional with {made} elements, but got bias of size "
            f"{show(bias._shape)} instead"
        )


def weight_geometry(
    input: Tensor, grad: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> tuple[Geometry, Shape]:
    """The convolution that a weight's gradient belongs to, and the weight's spatial shape."""
    n = len(input._shape) - 2
    at = Geometry(
        spread(stride, n, "stride"),
        spread(padding, n, "padding"),
        spread(dilation, n, "dilation"),
        False,
        (0,) * n,
        groups,
        grad._shape[2:],
    )
    return at, spread(kernel, n, "kernel_size")
