"""Normalisations by channels as users call them: ``torch.nn.functional``."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...opdefs.define import public
from ...tensors.tensor import Tensor
from ...values.shapes import numel, show
from .normalization import verify_size


@public("nn")
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Mean 0 and variance 1 of each channel, then scale and shift (Ioffe and Szegedy, 2015).

    Args:
        input: shape (N, C, *).
        running_mean: of shape (C): updated in training, used otherwise.
        running_var: likewise.
        weight: scale, of shape (C).
        bias: shift, of the same shape.
        training: use the batch's own statistics.
        momentum: weight of the batch's statistics in the update.
        eps: added to the variance.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        ValueError: if ``eps`` is negative; in training, if it is 0 or a channel has one value.
        RuntimeError: if a size does not fit.

    Example:
        >>> x = torch.tensor([[1.0, 10.0], [3.0, 30.0]])
        >>> torch.nn.functional.batch_norm(x, None, None, training=True)
        tensor([[-1.0000, -1.0000],
                [ 1.0000,  1.0000]])
        >>> mean, var = torch.zeros(2), torch.ones(2)
        >>> torch.nn.functional.batch_norm(x, mean, var)
        tensor([[ 1.0000, 10.0000],
                [ 3.0000, 29.9998]])
    """
    if training:
        verify_size(input._shape)
    if eps < 0 or (training and not eps > 0):
        wanted = "positive during training" if training else "non-negative"
        raise ValueError(f"batch_norm eps must be {wanted}, but got {eps}")
    return fn.batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps, True
    )


@public("nn")
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Mean 0 and variance 1 of each channel of each sample (Ulyanov et al., 2016).

    Args:
        input: shape (N, C, *).
        running_mean: of shape (C): updated if the input's statistics are used, else used itself.
        running_var: likewise.
        weight: scale, of shape (C).
        bias: shift, of the same shape.
        use_input_stats: use the statistics of each sample.
        momentum: weight of these statistics in the update.
        eps: added to the variance.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        ValueError: if a channel has one value, or if only one of the running statistics is given.

    Example:
        >>> torch.nn.functional.instance_norm(torch.tensor([[[1.0, 3.0], [10.0, 30.0]]]))
        tensor([[[-1.0000,  1.0000],
                 [-1.0000,  1.0000]]])
    """
    if use_input_stats and numel(input._shape[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size "
            f"torch.Size({show(input._shape)})"
        )
    return fn.instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True
    )


@public("nn")
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Each element divided by the strength of neighbouring channels (Krizhevsky et al., 2012).

    Args:
        input: shape (N, C, *).
        size: how many channels count.
        alpha: factor of the mean of squares.
        beta: exponent: the divisor is ``(k + alpha * mean of squares) ** beta``.
        k: what is added.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        ValueError: if the input has fewer than 3 dimensions.
        RuntimeError: if ``size`` is not positive.

    Example:
        >>> torch.nn.functional.local_response_norm(torch.ones(1, 3, 1), size=3, alpha=3.0).flatten()
        tensor([0.4387, 0.3536, 0.4387])
    """
    if len(input._shape) < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality input (got {len(input._shape)} dimensions)"
        )
    if not numel(input._shape):
        return input
    if size < 1:
        raise RuntimeError(f"kernel size should be greater than zero, but got {size}")
    squares: Any = input * input
    sides = [0, 0] * (len(input._shape) - 2) + [size // 2, (size - 1) // 2]
    padded = fn.constant_pad_nd(squares, sides, 0)
    total = padded.unfold(1, size, 1).sum(-1)
    whole = None if input._dtype.is_floating_point else "trunc"  # PyTorch's pooling of integers
    strength: Any = fn.div(total, size, rounding_mode=whole)
    scaled: Tensor = input / (strength * alpha + k) ** beta
    return scaled
