"""Activations as users call them: ``torch.nn.functional``, with ``inplace``."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn_nn
from ...opdefs.define import public
from ...tensors.tensor import Tensor
from ...values.user_warnings import warn_user
from ..elementwise.composed import by_name
from .softmax import implicit_dim


def _called(name: str, inplace: bool, input: Tensor, *args: Any) -> Tensor:
    made: Tensor = by_name(f"{name}_" if inplace else name)(input, *args)
    return made


@public("nn")
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Elements limited to the range from 0 to 6 (Howard et al., 2017).

    Args:
        input: a tensor of any shape.
        inplace: whether the input itself is changed.

    Returns:
        A tensor of the shape of ``input``.

    Example:
        >>> torch.nn.functional.relu6(torch.tensor([-1.0, 3.0, 9.0]))
        tensor([0., 3., 6.])
    """
    return _called("hardtanh", inplace, input, 0, 6)


@public("nn")
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Negative elements times a small slope (Maas et al., 2013).

    Args:
        input: a tensor of any shape, of floats.
        negative_slope: what negative elements are multiplied with.
        inplace: whether the input itself is changed.

    Returns:
        A tensor of the shape of ``input``.

    Example:
        >>> torch.nn.functional.leaky_relu(torch.tensor([-1.0, 2.0]), 0.1)
        tensor([-0.1000,  2.0000])
    """
    return _called("leaky_relu", inplace, input, negative_slope)


@public("nn")
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Elements limited to the range from ``min_val`` to ``max_val``.

    Args:
        input: a tensor of any shape.
        min_val: what smaller elements become.
        max_val: what larger elements become.
        inplace: whether the input itself is changed.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        ValueError: if the range is empty.

    Example:
        >>> torch.nn.functional.hardtanh(torch.tensor([-3.0, 0.5, 3.0]))
        tensor([-1.0000,  0.5000,  1.0000])
    """
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val, got {min_val} and {max_val}")
    return _called("hardtanh", inplace, input, min_val, max_val)


@public("nn")
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """``value`` where the input is not above the threshold.

    Args:
        input: a tensor of any shape.
        threshold: elements above it stay.
        value: what the others become.
        inplace: whether the input itself is changed.

    Returns:
        A tensor of the shape of ``input``.

    Example:
        >>> torch.nn.functional.threshold(torch.tensor([0.5, 2.0]), 1.0, -1.0)
        tensor([-1.,  2.])
    """
    return _called("threshold", inplace, input, threshold, value)


@public("nn")
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``x``, and ``alpha * expm1(x)`` below 0 (Clevert et al., 2015).

    Args:
        input: a tensor of any shape, of floats.
        alpha: the limit of very negative elements, negated.
        inplace: whether the input itself is changed.

    Returns:
        A tensor of the shape of ``input``.

    Example:
        >>> torch.nn.functional.elu(torch.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """
    return _called("elu", inplace, input, alpha)


@public("nn")
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``x``, and ``alpha * expm1(x / alpha)`` below 0 (Barron, 2017).

    Args:
        input: a tensor of any shape, of floats.
        alpha: the limit of very negative elements, negated; not 0.
        inplace: whether the input itself is changed.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        RuntimeError: if ``alpha`` is 0.

    Example:
        >>> torch.nn.functional.celu(torch.tensor([-1.0, 2.0]), alpha=2.0)
        tensor([-0.7869,  2.0000])
    """
    return _called("celu", inplace, input, alpha)


@public("nn")
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Self-normalising exponential linear unit (Klambauer et al., 2017).

    Args:
        input: a tensor of any shape, of floats.
        inplace: whether the input itself is changed.

    Returns:
        A tensor of the shape of ``input``.

    Example:
        >>> torch.nn.functional.selu(torch.tensor([-1.0, 1.0]))
        tensor([-1.1113,  1.0507])
    """
    return _called("selu", inplace, input)


@public("nn")
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``x * sigmoid(x)`` (Hendrycks and Gimpel, 2016).

    Args:
        input: a tensor of any shape, of floats.
        inplace: whether the input itself is changed.

    Returns:
        A tensor of the shape of ``input``.

    Example:
        >>> torch.nn.functional.silu(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.2689,  0.0000,  0.7311])
    """
    return _called("silu", inplace, input)


@public("nn")
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``x * tanh(softplus(x))`` (Misra, 2019).

    Args:
        input: a tensor of any shape, of floats.
        inplace: whether the input itself is changed.

    Returns:
        A tensor of the shape of ``input``.

    Example:
        >>> torch.nn.functional.mish(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.3034,  0.0000,  0.8651])
    """
    return _called("mish", inplace, input)


@public("nn")
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``x * clamp(x + 3, 0, 6) / 6`` (Howard et al., 2019).

    Args:
        input: a tensor of any shape, of floats.
        inplace: whether the input itself is changed.

    Returns:
        A tensor of the shape of ``input``.

    Example:
        >>> torch.nn.functional.hardswish(torch.tensor([-4.0, 1.0, 4.0]))
        tensor([-0.0000, 0.6667, 4.0000])
    """
    return _called("hardswish", inplace, input)


@public("nn")
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """``clamp(x + 3, 0, 6) / 6`` (Howard et al., 2019).

    Args:
        input: a tensor of any shape, of floats.
        inplace: whether the input itself is changed.

    Returns:
        A tensor of the shape of ``input``.

    Example:
        >>> torch.nn.functional.hardsigmoid(torch.tensor([-4.0, 0.0, 4.0]))
        tensor([0.0000, 0.5000, 1.0000])
    """
    return _called("hardsigmoid", inplace, input)


@public("nn")
def tanhshrink(input: Tensor) -> Tensor:
    """``x - tanh(x)``.

    Args:
        input: a tensor of any shape.

    Returns:
        A tensor of the shape of ``input``.

    Example:
        >>> torch.nn.functional.tanhshrink(torch.tensor([-1.0, 1.0]))
        tensor([-0.2384,  0.2384])
    """
    return input - input.tanh()


@public("nn")
def softsign(input: Tensor) -> Tensor:
    """``x / (|x| + 1)``.

    Args:
        input: a tensor of any shape.

    Returns:
        A tensor of the shape of ``input``.

    Example:
        >>> torch.nn.functional.softsign(torch.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """
    return input / (input.abs() + 1)


@public("nn")
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Sample from the Gumbel-Softmax distribution (Jang et al., 2017; Maddison et al., 2017).

    Args:
        logits: unnormalized log probabilities, of any shape.
        tau: temperature, not negative.
        hard: give one-hot vectors, whose gradients are those of the soft sample.
        eps: has no effect; PyTorch keeps it for old callers.
        dim: the dimension of the categories.

    Returns:
        A tensor of the shape of ``logits``, which adds up to 1 along ``dim``.

    Example:
        >>> sample = torch.nn.functional.gumbel_softmax(torch.zeros(2, 4), hard=True)
        >>> sample.sum(dim=-1)
        tensor([1., 1.])
    """
    if eps != 1e-10:
        warn_user("`eps` parameter is deprecated and has no effect.")
    noise = -logits.new_empty(logits._shape).exponential_().log()
    soft: Tensor = fn_nn.softmax((logits + noise) / tau, dim=dim)
    if not hard:
        return soft
    at = soft.argmax(dim, keepdim=True)
    return logits.new_zeros(logits._shape).scatter_(dim, at, 1.0) - soft.detach() + soft


@public("nn")
def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """`softmax` of the negated input.

    Args:
        input: a tensor, of floats.
        dim: the dimension along which the results add up to 1.
        dtype: what elements are converted to before; whole numbers want one.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        IndexError: if there is no such dimension.

    Example:
        >>> torch.nn.functional.softmin(torch.tensor([0.0, 0.0, 1000.0]), dim=0)
        tensor([0.5000, 0.5000, 0.0000])
    """
    return fn_nn.softmax(-input, implicit_dim("softmin", input, dim), dtype=dtype)
