"""Activations: functions of each element, and softmax."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F
from mindtorch_core.utils._own_frames import warn_user

from .. import init as _init
from .module import Module
from .multihead import MultiheadAttention
from .softmax import LogSoftmax, Softmax, Softmax2d, Softmin
from .utils import declare, shown

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "MultiheadAttention",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


class _Inplace(Module):
    """An activation that may write its result over its input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        """Settings, and whether it works in place."""
        told = [shown(self, *self._told)] if self._told else []
        return ", ".join(told + ["inplace=True"] * bool(self.inplace))


class Threshold(_Inplace):
    """``x`` where it is above a threshold, else a value."""

    _told = ("threshold", "value")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.threshold(input, self.threshold, self.value, self.inplace)


class ReLU(_Inplace):
    """``max(x, 0)``.

    Args:
        inplace: whether the input is changed.

    Example:
        >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.relu(input, inplace=self.inplace)


class RReLU(_Inplace):
    """`LeakyReLU` with random slopes in training (Xu et al., 2015)."""

    _told = ("lower", "upper")

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.lower = lower
        self.upper = upper

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class Hardtanh(_Inplace):
    """``x`` kept between two values.

    Args:
        min_val: what smaller elements become.
        max_val: what larger elements become.
        inplace: whether the input is changed.
        min_value: the same as ``min_val``; deprecated.
        max_value: the same as ``max_val``; deprecated.

    Example:
        >>> torch.nn.Hardtanh()(torch.tensor([-3.0, 0.5, 3.0]))
        tensor([-1.0000,  0.5000,  1.0000])
    """

    _told: tuple[str, ...] = ("min_val", "max_val")

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__(inplace)
        for old, new, value in (
            ("min_value", "min_val", min_value),
            ("max_value", "max_val", max_value),
        ):
            if value is not None:
                warn_user(
                    f"keyword argument `{old}` is deprecated and renamed to `{new}`",
                    FutureWarning,
                )
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        if self.max_val <= self.min_val:
            raise AssertionError(
                f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})"
            )

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """``x`` kept between 0 and 6.

    Args:
        inplace: whether the input is changed.

    Example:
        >>> torch.nn.ReLU6()(torch.tensor([-1.0, 3.0, 9.0]))
        tensor([0., 3., 6.])
    """

    _told = ()

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class Sigmoid(Module):
    """``1 / (1 + exp(-x))``.

    Args:
        *args: anything; it has no effect.
        **kwargs: likewise.

    Example:
        >>> torch.nn.Sigmoid()(torch.tensor([0.0, 100.0]))
        tensor([0.5000, 1.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return torch.sigmoid(input)


class Hardsigmoid(_Inplace):
    """A sigmoid of straight lines."""

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.hardsigmoid(input, self.inplace)

    extra_repr = Module.extra_repr


class Tanh(Module):
    """Hyperbolic tangent.

    Args:
        *args: anything; it has no effect.
        **kwargs: likewise.

    Example:
        >>> torch.nn.Tanh()(torch.tensor([0.0, 100.0]))
        tensor([0., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return torch.tanh(input)


class SiLU(_Inplace):
    """``x * sigmoid(x)`` (Hendrycks and Gimpel, 2016).

    Args:
        inplace: whether the input is changed.

    Example:
        >>> torch.nn.SiLU()(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.silu(input, inplace=self.inplace)


class Mish(_Inplace):
    """``x * tanh(softplus(x))`` (Misra, 2019).

    Args:
        inplace: whether the input is changed.

    Example:
        >>> torch.nn.Mish()(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.3034,  0.0000,  0.8651])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.mish(input, inplace=self.inplace)


class Hardswish(_Inplace):
    """`SiLU` of straight lines (Howard et al., 2019)."""

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.hardswish(input, self.inplace)

    extra_repr = Module.extra_repr


class ELU(_Inplace):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)`` (Clevert et al., 2015).

    Args:
        alpha: the limit of very negative elements, negated.
        inplace: whether the input is changed.

    Example:
        >>> torch.nn.ELU()(torch.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """

    _told = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.elu(input, self.alpha, self.inplace)


class CELU(ELU):
    """`ELU` whose slope is continuous for every ``alpha`` (Barron, 2017)."""

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.celu(input, self.alpha, self.inplace)


class SELU(_Inplace):
    """`ELU` scaled so that signals keep their size (Klambauer et al., 2017).

    Args:
        inplace: whether the input is changed.

    Example:
        >>> torch.nn.SELU()(torch.tensor([-1.0, 1.0]))
        tensor([-1.1113,  1.0507])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.selu(input, self.inplace)


class GLU(Module):
    """One half along a dimension times the sigmoid of the other (Dauphin et al., 2016).

    Args:
        dim: the dimension, of an even size.

    Raises:
        RuntimeError: for a size that is odd, or a tensor without dimensions.

    Example:
        >>> torch.nn.GLU()(torch.tensor([[1.0, 2.0, 0.0, 100.0]]))
        tensor([[0.5000, 2.0000]])
    """

    _told = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """(*, 2 n, *) to (*, n, *)."""
        return F.glu(input, self.dim)


class GELU(Module):
    """``x`` times the normal distribution function (Hendrycks and Gimpel, 2016).

    Args:
        approximate: ``"none"``, or ``"tanh"`` for a formula with tanh.

    Example:
        >>> torch.nn.GELU()(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.1587,  0.0000,  0.8413])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """How it is computed."""
        return f"approximate={self.approximate!r}"


class Hardshrink(Module):
    """``x`` where it is further from 0 than ``lambd``, else 0."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """The bound."""
        return f"{self.lambd}"


class Softshrink(Hardshrink):
    """``x`` moved towards 0 by ``lambd``."""

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.softshrink(input, self.lambd)


class LeakyReLU(_Inplace):
    """``x`` where it is positive, else ``negative_slope * x``.

    Args:
        negative_slope: the factor of what is negative.
        inplace: whether the input is changed.

    Example:
        >>> torch.nn.LeakyReLU(0.5)(torch.tensor([-1.0, 2.0]))
        tensor([-0.5000,  2.0000])
    """

    _told = ("negative_slope",)

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class LogSigmoid(Module):
    """The logarithm of `Sigmoid`."""

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.logsigmoid(input)


class Softplus(Module):
    """``log(1 + exp(beta * x)) / beta``; ``x`` itself above a threshold.

    Args:
        beta: the factor.
        threshold: for which ``beta * x`` above it the result is ``x``.

    Example:
        >>> torch.nn.Softplus()(torch.tensor([0.0, 30.0]))
        tensor([ 0.6931, 30.0000])
    """

    _told = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.softplus(input, self.beta, self.threshold)


class PReLU(Module):
    """`LeakyReLU` with slopes that are learnt, one or one per channel (He et al., 2015).

    Args:
        num_parameters: 1, or the channels, for a slope each.
        init: the slopes at first.
        device: of the slopes.
        dtype: of the slopes.

    Example:
        >>> torch.nn.PReLU()(torch.tensor([-1.0, 2.0])).tolist()
        [-0.25, 2.0]
    """

    _told = ("num_parameters",)
    weight: Tensor

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        declare(self, device, dtype, weight=(num_parameters,))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Take the slopes back to where they began."""
        _init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *) to the same shape."""
        return F.prelu(input, self.weight)


class Softsign(Module):
    """``x / (1 + |x|)``."""

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.softsign(input)


class Tanhshrink(Module):
    """``x - tanh(x)``."""

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape, element by element."""
        return F.tanhshrink(input)
