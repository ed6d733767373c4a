"""Activations as users call them: ``torch.nn.functional``, with ``inplace``."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn_nn
from ...opdefs.define import public
from ...tensors.tensor import Tensor
from ..elementwise.composed import by_name


def _called(name: str, inplace: bool, input: Tensor, *args: Any) -> Tensor:
    made: Tensor = by_name(f"{name}_" if inplace else name)(input, *args)
    return made


@public("nn")
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Elements limited to the range from 0 to 6 (Howard et al., 2017)."""
    return _called("hardtanh", inplace, input, 0, 6)


@public("nn")
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Negative elements times a small slope (Maas et al., 2013)."""
    return _called("leaky_relu", inplace, input, negative_slope)


@public("nn")
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Elements limited to the range from ``min_val`` to ``max_val``.

    Raises:
        ValueError: if the range is empty.
    """
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val, got {min_val} and {max_val}")
    return _called("hardtanh", inplace, input, min_val, max_val)


@public("nn")
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """``value`` where the input is not above the threshold."""
    return _called("threshold", inplace, input, threshold, value)


@public("nn")
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``x``, and ``alpha * expm1(x)`` below 0 (Clevert et al., 2015)."""
    return _called("elu", inplace, input, alpha)


@public("nn")
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``x``, and ``alpha * expm1(x / alpha)`` below 0 (Barron, 2017)."""
    return _called("celu", inplace, input, alpha)


@public("nn")
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Self-normalising exponential linear unit (Klambauer et al., 2017)."""
    return _called("selu", inplace, input)


@public("nn")
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``x * sigmoid(x)`` (Hendrycks and Gimpel, 2016)."""
    return _called("silu", inplace, input)


@public("nn")
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``x * tanh(softplus(x))`` (Misra, 2019)."""
    return _called("mish", inplace, input)


@public("nn")
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``x * clamp(x + 3, 0, 6) / 6`` (Howard et al., 2019)."""
    return _called("hardswish", inplace, input)


@public("nn")
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """``clamp(x + 3, 0, 6) / 6`` (Howard et al., 2019)."""
    return _called("hardsigmoid", inplace, input)


@public("nn")
def tanhshrink(input: Tensor) -> Tensor:
    """``x - tanh(x)``."""
    return input - input.tanh()


@public("nn")
def softsign(input: Tensor) -> Tensor:
    """``x / (|x| + 1)``."""
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
    """
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
    """`softmax` of the negated input."""
    return fn_nn.softmax(-input, dim=dim, dtype=dtype)
