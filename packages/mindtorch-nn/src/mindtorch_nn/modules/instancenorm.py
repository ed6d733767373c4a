"""Instance normalisation."""

from __future__ import annotations

from typing import Any

from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F
from mindtorch_core.utils._own_frames import warn_user

from .batchnorm import _LazyNormBase, _NormBase

__all__ = [
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


class _InstanceNorm(_NormBase):
    """Normalises each channel of each sample; inputs may be without a batch dimension."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def _get_no_batch_dim(self) -> int:
        return self._ranks[0]

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        if local_metadata.get("version") is None and not self.track_running_stats:
            names = (prefix + name for name in ("running_mean", "running_var"))
            found = [name for name in names if name in state_dict]
            if found:
                kind = type(self).__name__
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {' and '.join(map(repr, found))} for {kind} with "
                    f"track_running_stats=False: delete them from the state_dict, or set "
                    f"track_running_stats=True in {kind} if they are wanted."
                )
                for name in found:
                    del state_dict[name]
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *) or (C, *) to the same shape."""
        self._check_input_dim(input)
        dim = input.dim() - self._get_no_batch_dim()
        if input.size(dim) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features ({self.num_features}), but "
                    f"got: {input.size(dim)}."
                )
            warn_user(
                f"input's size at dim={dim} does not match num_features. You can silence this warning by "
                f"not passing in num_features, which is not used because affine=False",
            )
        batch = input if dim else input.unsqueeze(0)
        made = F.instance_norm(
            batch,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return made if dim else made.squeeze(0)


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (N, C, L) or (C, L) (Ulyanov et al., 2016).

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
        ValueError: for inputs of other numbers of dimensions, or if a channel has a single value.

    Example:
        >>> layer = torch.nn.InstanceNorm1d(2)
        >>> layer(torch.tensor([[1.0, 3.0], [10.0, 30.0]]))
        tensor([[-1.0000,  1.0000],
                [-1.0000,  1.0000]])
    """

    _ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (N, C, H, W) or (C, H, W) (Ulyanov et al., 2016).

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
        ValueError: for inputs of other numbers of dimensions, or if a channel has a single value.

    Example:
        >>> layer = torch.nn.InstanceNorm2d(2)
        >>> layer(torch.tensor([[[1.0, 3.0]], [[10.0, 30.0]]])).flatten()
        tensor([-1.0000,  1.0000, -1.0000,  1.0000])
    """

    _ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (N, C, D, H, W) or (C, D, H, W) (Ulyanov et al., 2016)."""

    _ranks = (4, 5)


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """`InstanceNorm1d` that takes ``num_features`` from its first input."""

    cls_to_become = InstanceNorm1d
    _ranks = InstanceNorm1d._ranks


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """`InstanceNorm2d` that takes ``num_features`` from its first input."""

    cls_to_become = InstanceNorm2d
    _ranks = InstanceNorm2d._ranks


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """`InstanceNorm3d` that takes ``num_features`` from its first input."""

    cls_to_become = InstanceNorm3d
    _ranks = InstanceNorm3d._ranks
