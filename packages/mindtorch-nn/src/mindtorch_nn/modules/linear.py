"""Linear maps."""

from __future__ import annotations

import math
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .. import init
from .lazy import LazyModuleMixin
from .module import Module
from .utils import declare, declare_lazy, shown

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]


class Identity(Module):
    """Gives its input; takes any arguments when it is made.

    Args:
        *args: anything; it has no effect.
        **kwargs: likewise.

    Example:
        >>> torch.nn.Identity(54, unused=True)(torch.ones(2))
        tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """The input."""
        return input


class Linear(Module):
    """``input @ weight.T + bias``: (*, in_features) to (*, out_features).

    Args:
        in_features: the last size of inputs.
        out_features: the last size of outputs.
        bias: whether there is one.
        device: of the parameters.
        dtype: of the parameters.

    Example:
        >>> layer = torch.nn.Linear(3, 2)
        >>> layer(torch.ones(5, 3)).shape
        torch.Size([5, 2])
    """

    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        shape = (out_features, in_features)
        declare(self, device, dtype, weight=shape, bias=(out_features,) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new values, uniform within ``1 / sqrt(in_features)``."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """(*, in_features) to (*, out_features)."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Sizes, and whether there is a bias."""
        return f"{shown(self, 'in_features', 'out_features')}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """`Linear` under the name that `MultiheadAttention` has for its output."""


class Bilinear(Module):
    """``input1 @ weight @ input2 + bias`` for each output feature.

    Args:
        in1_features: size of the last dimension of the first input.
        in2_features: size of that of the second.
        out_features: size of that of outputs.
        bias: whether there is one.
        device: of the parameters.
        dtype: of the parameters.

    Raises:
        ValueError: if ``in1_features`` is not positive.

    Example:
        >>> layer = torch.nn.Bilinear(2, 3, 4)
        >>> layer(torch.ones(5, 2), torch.ones(5, 3)).shape
        torch.Size([5, 4])
    """

    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        super().__init__()
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        shape = (out_features, in1_features, in2_features)
        declare(self, device, dtype, weight=shape, bias=(out_features,) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new values, uniform within ``1 / sqrt(in1_features)``."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """(*, in1_features) and (*, in2_features) to (*, out_features)."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Sizes, and whether there is a bias."""
        sizes = shown(self, "in1_features", "in2_features", "out_features")
        return f"{sizes}, bias={self.bias is not None}"


class LazyLinear(LazyModuleMixin, Linear):
    """`Linear` that takes ``in_features`` from its first input.

    Args:
        out_features: size of the last dimension of outputs.
        bias: whether there is one.
        device: of the parameters.
        dtype: of the parameters.

    Example:
        >>> layer = torch.nn.LazyLinear(4)
        >>> layer(torch.ones(2, 3)).shape, layer.in_features
        (torch.Size([2, 4]), 3)
    """

    cls_to_become = Linear

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(0, 0, False)
        self.out_features = out_features
        declare_lazy(self, device, dtype, weight=True, bias=bias)

    def reset_parameters(self) -> None:
        """Draw new values, if there are shapes."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Take the number of features from an input."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            weight: Any = self.weight
            bias: Any = self.bias
            with torch.no_grad():
                weight.materialize((self.out_features, self.in_features))
                if bias is not None:
                    bias.materialize((self.out_features,))
                self.reset_parameters()
        if self.in_features == 0:  # the shapes came from a state dict
            if input.shape[-1] != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {input.shape[-1]} is not equal to in_features "
                    f"from self.weight: {self.weight.shape[-1]}"
                )
            self.in_features = input.shape[-1]
