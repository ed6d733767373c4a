"""Pages on what networks are made of."""

from __future__ import annotations

from typing import Final

__all__ = ["PAGES"]

_OUT: Final = "    out: where the result is written, instead of into new memory.\n"
_TRANSPOSED: Final = """\
Args:
    input: (batch, channels, {sizes}), or without the batch.
    weight: (channels, out_channels / groups, {kernel}).
    bias: (out_channels), or None.
    stride: how far apart inputs lie in the result, one int or {count}.
    padding: how much of the result is cut off on both sides.
    output_padding: how much longer the result is on one side.
    groups: how many groups of channels there are, each with kernels of its own.
    dilation: how far the elements of the window are apart.

Returns:
    (batch, out_channels, {sizes}), each size ``(size - 1) * stride - 2 * padding + dilation *
    (kernel - 1) + output_padding + 1``.

Raises:
    RuntimeError: if shapes, groups or dtypes do not fit.

Example:
    >>> {example}
"""

PAGES: Final[dict[str, str]] = {
    "conv_transpose1d": _TRANSPOSED.format(
        sizes="length",
        kernel="size",
        count="a tuple of one",
        example=(
            "torch.conv_transpose1d(torch.ones(1, 1, 3), torch.ones(1, 1, 2))\n"
            "    tensor([[[1., 2., 2., 1.]]])"
        ),
    ),
    "conv_transpose2d": _TRANSPOSED.format(
        sizes="height, width",
        kernel="height, width",
        count="two",
        example=(
            "torch.conv_transpose2d(torch.ones(1, 3, 4, 4), torch.ones(3, 2, 2, 2), stride=2).shape\n"
            "    torch.Size([1, 2, 8, 8])"
        ),
    ),
    "conv_transpose3d": _TRANSPOSED.format(
        sizes="depth, height, width",
        kernel="depth, height, width",
        count="three",
        example=(
            "torch.conv_transpose3d(torch.ones(1, 1, 2, 2, 2), torch.ones(1, 2, 2, 2, 2)).shape\n"
            "    torch.Size([1, 2, 3, 3, 3])"
        ),
    ),
    "avg_pool1d": """\
Args:
    input: (batch, channels, length), or without the batch.
    kernel_size: the window.
    stride: how far the window moves; its own size by default.
    padding: zeros on both sides, half the window at most.
    ceil_mode: whether windows may stick out at the end.
    count_include_pad: whether zeros of the padding count.

Returns:
    (batch, channels, windows).

Raises:
    RuntimeError: for other numbers of dimensions, or if the padding is more than half the window.

Example:
    >>> torch.avg_pool1d(torch.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    tensor([[2., 1.]])
""",
    "avg_pool2d": f"""\
Args:
    input: (batch, channels, height, width), or without the batch.
    kernel_size: the window: one int, or height and width.
    stride: how far the window moves; its own size by default.
    padding: zeros on both sides, half the window at most.
    ceil_mode: whether windows may stick out at the end.
    count_include_pad: whether zeros of the padding count.
    divisor_override: what sums are divided by instead of their number.
{_OUT}
Returns:
    (batch, channels, windows, windows).

Raises:
    RuntimeError: for other numbers of dimensions, if the padding is more than half the window, or if
        the divisor is 0.

Example:
    >>> torch.nn.functional.avg_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2).tolist()
    [[[2.5, 4.5], [10.5, 12.5]]]
""",
    "adaptive_avg_pool1d": """\
Args:
    input: (batch, channels, length), or without the batch.
    output_size: how many windows.

Returns:
    (batch, channels, output_size).

Raises:
    RuntimeError: for other numbers of dimensions.

Example:
    >>> torch.adaptive_avg_pool1d(torch.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    tensor([[2., 1.]])
""",
    "softplus": f"""\
Args:
    input: a tensor of any shape, of floats.
    beta: the factor.
    threshold: for which ``beta * x`` above it the result is ``x``.
{_OUT}
Returns:
    A tensor of the shape of ``input``.

Example:
    >>> torch.nn.functional.softplus(torch.tensor([0.0, 30.0]))
    tensor([ 0.6931, 30.0000])
""",
    "glu": f"""\
Args:
    input: a tensor, of floats.
    dim: the dimension that is halved; its size is even.
{_OUT}
Returns:
    A tensor with half the size along ``dim``.

Raises:
    RuntimeError: for a size that is odd, or a tensor without dimensions.

Example:
    >>> torch.nn.functional.glu(torch.tensor([1.0, 2.0, 0.0, 100.0]))
    tensor([0.5000, 2.0000])
""",
    "prelu": """\
Args:
    input: a tensor; its second dimension is that of the channels.
    weight: of one element, or one for each channel.

Returns:
    A tensor of the shape of ``input``.

Raises:
    RuntimeError: if the number of weights does not fit.

Example:
    >>> torch.prelu(torch.tensor([[-1.0, -1.0]]), torch.tensor([0.1, 0.5]))
    tensor([[-0.1000, -0.5000]])
""",
    "rms_norm": """\
Args:
    input: shape (*, *normalized_shape), of floats.
    normalized_shape: the last dimensions.
    weight: scale, of shape ``normalized_shape``.
    eps: added to the mean of squares; by default the dtype's epsilon.

Returns:
    A tensor of the shape of ``input``.

Raises:
    RuntimeError: if a shape does not fit.

Example:
    >>> torch.nn.functional.rms_norm(torch.tensor([[1.0, 7.0]]), (2,))
    tensor([[0.2000, 1.4000]])
""",
    "cosine_similarity": """\
Args:
    x1: a tensor.
    x2: another one; the shapes broadcast.
    dim: the dimension that vectors lie along.
    eps: what norms count as at least.

Returns:
    A tensor of the common shape without ``dim``.

Raises:
    RuntimeError: if the shapes do not broadcast.
    IndexError: if there is no such dimension.

Example:
    >>> torch.cosine_similarity(torch.tensor([[1.0, 1.0]]), torch.tensor([[1.0, 0.0]]))
    tensor([0.7071])
""",
    "pairwise_distance": """\
Args:
    x1: (*, D).
    x2: (*, D); the shapes broadcast.
    p: which norm.
    eps: added to differences.
    keepdim: whether the last dimension stays, with size 1.

Returns:
    A tensor of the common shape without the last dimension.

Raises:
    RuntimeError: if the shapes do not broadcast.

Example:
    >>> torch.pairwise_distance(torch.tensor([[3.0, 4.0]]), torch.tensor([[0.0, 0.0]]))
    tensor([5.0000])
""",
    "pixel_shuffle": """\
Args:
    input: (*, C * r * r, H, W).
    upscale_factor: ``r``.

Returns:
    (*, C, H * r, W * r).

Raises:
    RuntimeError: if ``r * r`` does not divide the channels, for fewer than three dimensions, or a
        factor that is not positive.

Example:
    >>> torch.pixel_shuffle(torch.arange(4.0).reshape(4, 1, 1), 2)
    tensor([[[0., 1.],
             [2., 3.]]])
""",
    "pixel_unshuffle": """\
Args:
    input: (*, C, H * r, W * r).
    downscale_factor: ``r``.

Returns:
    (*, C * r * r, H, W).

Raises:
    RuntimeError: if ``r`` does not divide height and width, for fewer than three dimensions, or a
        factor that is not positive.

Example:
    >>> torch.pixel_unshuffle(torch.ones(1, 4, 4), 2).shape
    torch.Size([4, 2, 2])
""",
}
