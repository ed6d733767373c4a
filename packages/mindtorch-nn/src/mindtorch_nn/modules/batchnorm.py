"""Batch normalisation, and what it shares with instance normalisation."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .. import init
from ..parameter import UninitializedBuffer
from .lazy import LazyModuleMixin
from .module import Module
from .utils import declare, declare_lazy

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "SyncBatchNorm",
]


class _NormBase(Module):
    """Statistics and parameters per channel."""

    _version = 2
    _ranks: tuple[int, ...] = ()  # how many dimensions inputs may have
    weight: Tensor | None
    bias: Tensor | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self._declare(device, dtype, bias)
        self.reset_parameters()

    def _declare(self, device: Any, dtype: Any, bias: bool) -> None:
        """Make parameters and buffers."""
        shape = (self.num_features,) if self.affine else None
        declare(self, device, dtype, weight=shape, bias=shape if bias else None)
        mean = var = count = None
        if self.track_running_stats:
            mean = torch.zeros(self.num_features, device=device, dtype=dtype)
            var = torch.ones(self.num_features, device=device, dtype=dtype)
            count = torch.tensor(0, dtype=torch.long, device=device)
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", var)
        self.register_buffer("num_batches_tracked", count)

    def reset_running_stats(self) -> None:
        """Forget the batches that were seen."""
        if self.running_mean is not None and self.running_var is not None:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            if self.num_batches_tracked is not None:
                self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget everything: weight 1, bias 0."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self._ranks:
            expected = " or ".join(f"{rank}D" for rank in self._ranks)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        """All settings."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any
    ) -> None:
        key = f"{prefix}num_batches_tracked"
        if (local_metadata.get("version") or 1) < 2 and self.track_running_stats:
            own = self.num_batches_tracked
            known = own is not None and not own.is_meta
            state_dict.setdefault(key, own if known else torch.tensor(0, dtype=torch.long))
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    """Normalises each channel over a batch."""

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *) to the same shape."""
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None and not input.is_meta:  # the mean over all batches
                factor = 1.0 / float(self.num_batches_tracked)
        of_batch = self.training or (self.running_mean is None and self.running_var is None)
        known = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if known else None,
            self.running_var if known else None,
            self.weight,
            self.bias,
            of_batch,
            factor,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L) (Ioffe and Szegedy, 2015).

    Args:
        num_features: channels.
        eps: added to the variance.
        momentum: how much of each batch goes into the running statistics; None for a plain average.
        affine: whether there are a weight and a bias.
        track_running_stats: whether there are running statistics, which are used in evaluation.
        device: of the parameters.
        dtype: of the parameters.
        bias: whether there is a bias where there is a weight.

    Raises:
        ValueError: for inputs of other dimensions, or in training with one value a channel.

    Example:
        >>> layer = torch.nn.BatchNorm1d(2)
        >>> layer(torch.tensor([[1.0, 2.0], [3.0, 6.0]])).tolist()[0]
        [-0.99999..., -0.99999...]
    """

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W) (Ioffe and Szegedy, 2015).

    Args:
        num_features: channels.
        eps: added to variances.
        momentum: of the running statistics; None for the mean over all batches.
        affine: whether there are weight and bias.
        track_running_stats: whether there are running statistics, which `eval` computes with.
        bias: whether there are biases where there are weights.
        device: of parameters and buffers.
        dtype: of parameters and buffers.

    Raises:
        ValueError: for inputs of other numbers of dimensions, and while it trains for a single value
            in a channel.

    Example:
        >>> layer = torch.nn.BatchNorm2d(3)
        >>> layer(torch.ones(2, 3, 4, 4)).shape, layer.num_batches_tracked
        (torch.Size([2, 3, 4, 4]), tensor(1))
    """

    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W) (Ioffe and Szegedy, 2015).

    Args:
        num_features: channels.
        eps: added to variances.
        momentum: of the running statistics; None for the mean over all batches.
        affine: whether there are weight and bias.
        track_running_stats: whether there are running statistics, which `eval` computes with.
        bias: whether there are biases where there are weights.
        device: of parameters and buffers.
        dtype: of parameters and buffers.

    Raises:
        ValueError: for inputs of other numbers of dimensions, and while it trains for a single value
            in a channel.

    Example:
        >>> layer = torch.nn.BatchNorm3d(3)
        >>> layer(torch.ones(2, 3, 4, 4, 4)).shape
        torch.Size([2, 3, 4, 4, 4])
    """

    _ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over the batches of all processes of a group, while it trains.

    Args:
        num_features: channels.
        eps: added to variances.
        momentum: of the running statistics; None for the mean over all batches.
        affine: whether there are weight and bias.
        track_running_stats: whether there are running statistics.
        process_group: the processes; None for all, or for this one alone where there is no group.
        device: of parameters and buffers.
        dtype: of parameters and buffers.
        bias: whether there is a bias.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *) to the same shape."""
        of_batch = self.training or (self.running_mean is None and self.running_var is None)
        dist = torch.distributed
        if not (of_batch and dist.is_initialized()) or dist.get_world_size(self.process_group) < 2:
            return super().forward(input)
        self._check_input_dim(input)
        mean, var, count = self._statistics(input)
        if self.training and self.track_running_stats:
            self._remember(mean.detach(), var.detach() * (count / (count - 1)))
        shape = [1, -1] + [1] * (input.dim() - 2)
        result = (input - mean.view(shape)) * torch.rsqrt(var + self.eps).view(shape)
        if self.weight is not None:
            result = result * self.weight.view(shape)
        if self.bias is not None:
            result = result + self.bias.view(shape)
        return result.to(input.dtype)

    def _statistics(self, input: Tensor) -> tuple[Tensor, Tensor, float]:
        """Mean and variance of each channel over all processes, and the number of elements."""
        group = self.process_group or torch.distributed.group.WORLD

        def summed(x: Tensor) -> Tensor:
            found: Tensor = torch.ops._c10d_functional.all_reduce(x, "sum", group.group_name)
            return found

        dims = [d for d in range(input.dim()) if d != 1]
        wide = input if input.dtype in (torch.float32, torch.float64) else input.float()
        count = summed(torch.tensor(float(input.numel() // input.size(1)), dtype=torch.float64))
        number = float(count)
        if number < 2:
            raise ValueError(
                f"Expected more than 1 value per channel when training, got input size {input.size()}"
            )
        mean = summed(wide.sum(dims)) / number
        apart = wide - mean.view([1, -1] + [1] * (input.dim() - 2))
        return mean, summed((apart * apart).sum(dims)) / number, number

    def _remember(self, mean: Tensor, var: Tensor) -> None:
        """Move the running statistics."""
        factor = 0.0 if self.momentum is None else self.momentum
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean over all batches
                factor = 1.0 / float(self.num_batches_tracked)
        if self.running_mean is not None and self.running_var is not None:
            self.running_mean.lerp_(mean.to(self.running_mean.dtype), factor)
            self.running_var.lerp_(var.to(self.running_var.dtype), factor)

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """Replace all batch normalisations in a module; their tensors are shared."""
        made = module
        if isinstance(module, _BatchNorm):
            made = SyncBatchNorm(
                module.num_features, module.eps, module.momentum, module.affine,
                module.track_running_stats, process_group, bias=module.bias is not None,
            )  # fmt: skip
            for name, value in [*module._parameters.items(), *module._buffers.items()]:
                setattr(made, name, value)
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


# ---- lazy ---------------------------------------------------------------------------------------


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """Makes a normalisation take the number of channels from its first input."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _declare(self, device: Any, dtype: Any, bias: bool) -> None:
        declare_lazy(self, device, dtype, weight=self.affine, bias=self.affine and bias)
        mean = var = count = None
        if self.track_running_stats:
            mean, var = (UninitializedBuffer(device=device, dtype=dtype) for _ in range(2))
            count = torch.tensor(0, dtype=torch.long, device=device)
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", var)
        self.register_buffer("num_batches_tracked", count)

    def reset_parameters(self) -> None:
        """Forget everything, if there are shapes."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Take the number of channels from an input."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            lazy: list[Any] = [self.weight, self.bias, self.running_mean, self.running_var]
            for each in lazy:
                if each is not None:
                    each.materialize((self.num_features,))
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """`BatchNorm1d` that takes ``num_features`` from its first input."""

    cls_to_become = BatchNorm1d
    _ranks = BatchNorm1d._ranks


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """`BatchNorm2d` that takes ``num_features`` from its first input."""

    cls_to_become = BatchNorm2d
    _ranks = BatchNorm2d._ranks


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """`BatchNorm3d` that takes ``num_features`` from its first input."""

    cls_to_become = BatchNorm3d
    _ranks = BatchNorm3d._ranks
