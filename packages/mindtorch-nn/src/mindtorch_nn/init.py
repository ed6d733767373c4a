"""``torch.nn.init``: filling tensors with the values that training starts from; all in place."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, TypeVar

import mindtorch_core as torch
from mindtorch_core import Generator, Tensor
from mindtorch_core.utils._own_frames import guarded, warn_user

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

F = TypeVar("F", bound=Callable[..., Any])


def _unrecorded(fill: F) -> F:
    """Decorator: what the function does to a tensor is not recorded for backward."""
    return torch.no_grad()(fill)


def _overridable(fill: F) -> F:
    """Decorator: a class with ``__torch_function__`` answers for its tensors, told all by name."""
    signature = inspect.signature(fill)

    @functools.wraps(fill)
    def asking(*args: Any, **kwargs: Any) -> Any:
        tensor = args[0] if args else kwargs.get("tensor")
        if not torch.overrides.has_torch_function_variadic(tensor):
            return fill(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return torch.overrides.handle_torch_function(asking, (tensor,), **bound.arguments)

    return asking  # type: ignore[return-value]


_GAINS = {
    **dict.fromkeys(("linear", "sigmoid"), 1),
    **{f"conv{t}{n}d": 1 for t in ("", "_transpose") for n in (1, 2, 3)},
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Standard deviation that keeps a signal's size through an activation.

    Args:
        nonlinearity: the name of its function.
        param: the negative slope of ``leaky_relu``, 0.01 by default.

    Raises:
        ValueError: for a name that is not known, or a slope that is no number.
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, int | float):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


@_overridable
@_unrecorded
def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Uniform between ``a`` and ``b``.

    Args:
        tensor: what is filled.
        a: the least value.
        b: what values are below.
        generator: the source of random numbers.

    Example:
        >>> w = torch.nn.init.uniform_(torch.empty(100), -1.0, 1.0)
        >>> bool(w.min() >= -1) and bool(w.max() < 1)
        True
    """
    return tensor.uniform_(a, b, generator=generator)


@_overridable
@_unrecorded
def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Normal with a mean and a standard deviation.

    Args:
        tensor: what is filled.
        mean: of the values.
        std: their standard deviation.
        generator: the source of random numbers.

    Example:
        >>> bool(torch.nn.init.normal_(torch.empty(10000), std=2.0).std() > 1.9)
        True
    """
    return tensor.normal_(mean, std, generator=generator)


@_unrecorded
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal with what lies outside of ``[a, b]`` drawn again.

    Where most of a normal's draws would be thrown away, draws are uniform and accepted with the
    probability that the density says.

    Args:
        tensor: what is filled.
        mean: of the normal distribution.
        std: its standard deviation.
        a: the least value.
        b: the largest value.
        generator: the source of random numbers.

    Example:
        >>> w = torch.nn.init.trunc_normal_(torch.empty(100), std=0.02, a=-0.04, b=0.04)
        >>> bool(w.abs().max() <= 0.04)
        True
    """
    if tensor.is_meta:
        return tensor
    if mean < a - 2 * std or mean > b + 2 * std:
        warn_user(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values "
            "may be incorrect."
        )
    inside = _below((b - mean) / std) - _below((a - mean) / std)
    drawn = (_redrawn if inside > 0.3 else _accepted)(tensor, mean, std, a, b, generator)
    return tensor.copy_(drawn)


def _below(x: float) -> float:
    """How much of a standard normal lies below a value."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _redrawn(t: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> Tensor:
    # Bounds as the dtype has them: else a value may lie on the wrong side of one for ever.
    low, high = torch.tensor([a, b], dtype=t.dtype).tolist()
    found = torch.empty_like(t).normal_(mean, std, generator=generator)
    while (outside := (found < low) | (found > high)).any():
        again = torch.empty_like(found).normal_(mean, std, generator=generator)
        found = torch.where(outside, again, found)
    return found


def _accepted(t: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> Tensor:
    """Von Neumann's rejection from a uniform distribution."""
    peak = max(a, min(mean, b))
    top = -0.5 * ((peak - mean) / std) ** 2
    found = torch.empty_like(t).uniform_(a, b, generator=generator)
    tried, pending = found, None
    while True:
        height = -0.5 * ((tried - mean) / std) ** 2 - top
        refused = torch.empty_like(t).uniform_(generator=generator).log() > height
        pending = refused if pending is None else pending & refused
        if not pending.any():
            return found
        tried = torch.empty_like(t).uniform_(a, b, generator=generator)
        found = torch.where(pending, tried, found)


@_overridable
@_unrecorded
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill a tensor with one value.

    Args:
        tensor: what is filled.
        val: the value.

    Example:
        >>> torch.nn.init.constant_(torch.empty(2), 0.5)
        tensor([0.5000, 0.5000])
    """
    return tensor.fill_(val)


@_unrecorded
def ones_(tensor: Tensor) -> Tensor:
    """Fill a tensor with ones.

    Args:
        tensor: what is filled.

    Example:
        >>> torch.nn.init.ones_(torch.empty(2))
        tensor([1., 1.])
    """
    return tensor.fill_(1.0)


@_unrecorded
def zeros_(tensor: Tensor) -> Tensor:
    """Fill a tensor with zeros.

    Args:
        tensor: what is filled.

    Example:
        >>> torch.nn.init.zeros_(torch.empty(2))
        tensor([0., 0.])
    """
    return tensor.zero_()


@_unrecorded
def eye_(tensor: Tensor) -> Tensor:
    """The identity, as far as a matrix goes.

    Raises:
        ValueError: if the tensor is no matrix.
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return tensor.copy_(torch.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


@_unrecorded
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """The weight of a convolution that passes on as many channels as it can.

    Raises:
        ValueError: unless the tensor has 3, 4 or 5 dimensions, the first divisible by ``groups``.
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    if tensor.is_meta:
        return tensor
    per_group = tensor.size(0) // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    tensor.zero_()
    for group in range(groups):
        for channel in range(min(per_group, tensor.size(1))):
            tensor[(group * per_group + channel, channel, *middle)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs an output has, and how many outputs an input."""
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """The one of the two that is asked for."""
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode.lower())]


def _xavier_std(tensor: Tensor, gain: float) -> float:
    return gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Uniform, scaled by both fans (Glorot and Bengio, 2010).

    Args:
        tensor: what is filled, of two dimensions or more.
        gain: a factor, see `calculate_gain`.
        generator: the source of random numbers.

    Raises:
        ValueError: for a tensor of fewer dimensions.

    Example:
        >>> w = torch.nn.init.xavier_uniform_(torch.empty(3, 5))
        >>> bool(w.abs().max() <= (6 / (3 + 5)) ** 0.5)
        True
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal, scaled by both fans (Glorot and Bengio, 2010).

    Args:
        tensor: what is filled, of two dimensions or more.
        gain: a factor, see `calculate_gain`.
        generator: the source of random numbers.

    Raises:
        ValueError: for a tensor of fewer dimensions.

    Example:
        >>> w = torch.nn.init.xavier_normal_(torch.empty(300, 500))
        >>> bool((w.std() - (2 / (300 + 500)) ** 0.5).abs() < 1e-3)
        True
    """
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    """The standard deviation; None, with a warning, for a tensor without elements."""
    if 0 in tensor.shape:
        warn_user("Initializing zero-element tensors is a no-op")
        return None
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


@_overridable
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform, scaled by one fan (He et al., 2015).

    Args:
        tensor: what is filled.
        a: the negative slope of ``leaky_relu``.
        mode: "fan_in" keeps the size of signals in forward, "fan_out" in backward.
        nonlinearity: the function that follows.
        generator: of the draws.

    Raises:
        ValueError: for a tensor of fewer than two dimensions, or another mode.

    Example:
        >>> w = torch.nn.init.kaiming_uniform_(torch.empty(3, 6), nonlinearity="relu")
        >>> bool(w.abs().max() <= 1)
        True
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal, scaled as in `kaiming_uniform_`.

    Args:
        tensor: what is filled, of two dimensions or more.
        a: the slope of the leaky ReLU that follows, where one does.
        mode: "fan_in" keeps the variance in the forward pass, "fan_out" in the backward pass.
        nonlinearity: what follows, see `calculate_gain`.
        generator: the source of random numbers.

    Raises:
        ValueError: for a tensor of fewer dimensions, or another mode.

    Example:
        >>> w = torch.nn.init.kaiming_normal_(torch.empty(300, 500), nonlinearity="relu")
        >>> round(float(w.std()), 2)
        0.06
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0, std, generator)


@_unrecorded
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Rows, or columns where there are fewer, that are orthogonal and of length ``gain``.

    Args:
        tensor: what is filled, of two dimensions or more; those after the first count as one.
        gain: the length of rows.
        generator: the source of random numbers.

    Raises:
        ValueError: for fewer than 2 dimensions.

    Example:
        >>> w = torch.nn.init.orthogonal_(torch.empty(2, 3))
        >>> torch.allclose(w @ w.T, torch.eye(2), atol=1e-5)
        True
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0 or tensor.is_meta:
        return tensor
    rows = tensor.size(0)
    flat = tensor.new_empty((rows, tensor.numel() // rows)).normal_(0, 1, generator=generator)
    wide = rows < flat.size(1)
    q, r = torch.linalg.qr(flat.t() if wide else flat)
    q = q * torch.diag(r, 0).sign()  # makes the distribution uniform
    tensor.copy_((q.t() if wide else q).reshape(tensor.shape))
    return tensor.mul_(gain)


@_unrecorded
def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Normal, with a share of each column zero (Martens, 2010).

    Raises:
        ValueError: if the tensor is no matrix.
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    if tensor.is_meta:
        return tensor
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        tensor[torch.randperm(rows)[:zeros], column] = 0
    return tensor


for _each in __all__:
    guarded(globals()[_each])
# As PyTorch calls them inside; libraries copy its initializations.
_no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_ = uniform_, normal_, trunc_normal_
_no_grad_fill_, _no_grad_zero_ = constant_, zeros_


def _renamed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function under its name of old, without the underscore."""
    new, old = function.__name__, function.__name__[:-1]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        warn_user(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.",
            FutureWarning,
        )
        return function(*args, **kwargs)

    call.__name__ = old
    return call


uniform, normal, constant = _renamed(uniform_), _renamed(normal_), _renamed(constant_)
eye, dirac = _renamed(eye_), _renamed(dirac_)
xavier_uniform, xavier_normal = _renamed(xavier_uniform_), _renamed(xavier_normal_)
kaiming_uniform, kaiming_normal = _renamed(kaiming_uniform_), _renamed(kaiming_normal_)
orthogonal, sparse = _renamed(orthogonal_), _renamed(sparse_)
