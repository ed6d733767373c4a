"""Windows of images as columns, and back (im2col and col2im)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op, public
from ...tensors.tensor import Tensor
from ...values.shapes import Shape, numel, show
from .windows import offsets, slid, spread, window_count, windows_of


def _numbers(kernel: Any, dilation: Any, padding: Any, stride: Any) -> tuple[Shape, ...]:
    found = tuple(
        spread(value, 2, name)
        for value, name in (
            (kernel, "kernel_size"),
            (dilation, "dilation"),
            (padding, "padding"),
            (stride, "stride"),
        )
    )
    for values, name in zip(found, ("kernel_size", "dilation", "padding", "stride"), strict=True):
        if name == "padding" and any(v < 0 for v in values):
            raise RuntimeError(f"padding should be non-negative, but got {show(values)}")
        if name != "padding" and any(v <= 0 for v in values):
            raise RuntimeError(f"{name} should be greater than zero, but got {show(values)}")
    return found


def _counts(sizes: Shape, numbers: tuple[Shape, ...]) -> Shape:
    kernel, dilation, padding, stride = numbers
    count = tuple(map(window_count, sizes, kernel, stride, padding, dilation))
    if any(c < 1 for c in count):
        raise RuntimeError(
            f"Given an image of spatial size {show(sizes)}, kernel_size={show(kernel)}, "
            f"dilation={show(dilation)}, padding={show(padding)}, stride={show(stride)}, the shape of "
            f"the array of sliding blocks is {show(count)}, but its components must be at least one."
        )
    return count


def _im2col_rule(
    self: Tensor, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> TensorSpec:
    numbers = _numbers(kernel_size, dilation, padding, stride)
    shape = self._shape
    if len(shape) not in (3, 4) or any(s == 0 for s in shape[-3:]):
        raise RuntimeError(
            f"Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {show(shape)}"
        )
    count = _counts(shape[-2:], numbers)
    rows = shape[-3] * numel(numbers[0])
    return TensorSpec((*shape[:-3], rows, numel(count)), self._dtype)


def _im2col(self: Tensor, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Tensor:
    spec = _im2col_rule(self, kernel_size, dilation, padding, stride)
    kernel, gaps, pads, steps = _numbers(kernel_size, dilation, padding, stride)
    x = fn.constant_pad_nd(self, (pads[1], pads[1], pads[0], pads[0]))
    count = _counts(self._shape[-2:], (kernel, gaps, pads, steps))
    n = len(self._shape) - 2
    seen = windows_of(x, count, kernel, steps, gaps)
    return seen.permute(*range(n), n + 2, n + 3, n, n + 1).reshape(spec.shape)


def _col2im_rule(
    self: Tensor, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> TensorSpec:
    numbers = _numbers(kernel_size, dilation, padding, stride)
    shape = self._shape
    if len(shape) not in (2, 3) or any(s == 0 for s in shape[-2:]):
        raise RuntimeError(
            f"Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
            f"dimensions for input, but got: {show(shape)}"
        )
    block = numel(numbers[0])
    if shape[-2] % block:
        raise RuntimeError(
            f"Expected size of input's dimension 1 to be divisible by the product of kernel_size, but "
            f"got input.size(1)={shape[-2]} and kernel_size={show(numbers[0])}."
        )
    sizes = spread(output_size, 2, "output_size")
    if any(s < 1 for s in sizes):
        raise RuntimeError(f"output_size should be greater than zero, but got {show(sizes)}")
    count = _counts(sizes, numbers)
    if shape[-1] != numel(count):
        raise RuntimeError(
            f"Given output_size={show(sizes)}, kernel_size={show(numbers[0])}, "
            f"dilation={show(numbers[1])}, padding={show(numbers[2])}, stride={show(numbers[3])}, "
            f"expected size of input's dimension 2 to match the calculated number of sliding blocks "
            f"{count[0]} * {count[1]} = {numel(count)}, but got input.size(2)={shape[-1]}."
        )
    return TensorSpec((*shape[:-2], shape[-2] // block, *sizes), self._dtype)


def _col2im(
    self: Tensor, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Tensor:
    shape = _col2im_rule(self, output_size, kernel_size, dilation, padding, stride).shape
    numbers = _numbers(kernel_size, dilation, padding, stride)
    kernel, gaps, pads, steps = numbers
    count = _counts(shape[-2:], numbers)
    out: Any = self.new_zeros((*shape[:-2], shape[-2] + 2 * pads[0], shape[-1] + 2 * pads[1]))
    columns = self.reshape(*shape[:-2], numel(kernel), *count)
    for k, place in enumerate(offsets(kernel)):
        first = [p * d for p, d in zip(place, gaps, strict=True)]
        slid(out, first, count, steps).add_(columns.select(-3, k))
    made: Tensor = out.narrow(-2, pads[0], shape[-2]).narrow(-1, pads[1], shape[-1]).contiguous()
    return made


_NUMBERS = "int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride"
op(
    f"im2col(Tensor self, {_NUMBERS}) -> Tensor",
    doc="Windows of images (N, C, H, W) as columns (N, C * window, windows).",
    rule=_im2col_rule,
    grad={
        "self": lambda g, self_shape, kernel_size, dilation, padding, stride: fn.col2im(
            g, self_shape[-2:], kernel_size, dilation, padding, stride
        )
    },
    decomposition=_im2col,
    out=True,
    namespaces=("torch",),
)
op(
    f"col2im(Tensor self, SymInt[2] output_size, {_NUMBERS}) -> Tensor",
    doc="Columns (N, C * window, windows) added up to images (N, C, H, W).",
    rule=_col2im_rule,
    grad={
        "self": lambda g, kernel_size, dilation, padding, stride: fn.im2col(
            g, kernel_size, dilation, padding, stride
        )
    },
    decomposition=_col2im,
    out=True,
    namespaces=("torch",),
)


# ---- as users call them -------------------------------------------------------------------------


@public("nn")
def unfold(
    input: Tensor,
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """Windows of images (N, C, H, W) as columns (N, C * window, windows).

    Args:
        input: the images, or one without the dimension N.
        kernel_size: the window's size.
        dilation: from one element of a window to the next.
        padding: how far windows reach over both ends, where they see zeros.
        stride: from one window to the next.

    Returns:
        (N, C * window, windows), or without N.

    Raises:
        RuntimeError: for other numbers of dimensions, or if no window fits.

    Example:
        >>> x = torch.arange(9.0).reshape(1, 1, 3, 3)
        >>> torch.nn.functional.unfold(x, 2)
        tensor([[[0., 1., 3., 4.],
                 [1., 2., 4., 5.],
                 [3., 4., 6., 7.],
                 [4., 5., 7., 8.]]])
    """
    return fn.im2col(input, kernel_size, dilation, padding, stride)


@public("nn")
def fold(
    input: Tensor,
    output_size: int | Sequence[int],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """Columns (N, C * window, windows) added up to images (N, C, H, W).

    Args:
        input: the columns.
        output_size: height and width of the images.
        kernel_size: the window's size.
        dilation: from one element of a window to the next.
        padding: how far windows reach over both ends.
        stride: from one window to the next.

    Returns:
        (N, C, *output_size), or without N.

    Raises:
        RuntimeError: if the sizes do not fit those of windows.

    Example:
        >>> columns = torch.ones(1, 4, 4)
        >>> torch.nn.functional.fold(columns, (3, 3), 2)
        tensor([[[[1., 2., 1.],
                  [2., 4., 2.],
                  [1., 2., 1.]]]])
    """
    return fn.col2im(input, output_size, kernel_size, dilation, padding, stride)
