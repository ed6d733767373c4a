"""`ShardedGradScaler`."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.amp import GradScaler

__all__ = ["ShardedGradScaler"]


class ShardedGradScaler(GradScaler):
    """A `torch.amp.GradScaler` whose ranks skip a step together, where each has parts of gradients.

    Args:
        device: the type of the devices that compute.
        init_scale: the first factor.
        backoff_factor: by which it shrinks, below 1.
        growth_factor: by which it grows, above 1.
        growth_interval: steps until it grows.
        enabled: False for a scaler that changes nothing.
        process_group: the ranks; None for all.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        backoff_factor: float = 0.5,
        growth_factor: float = 2.0,
        growth_interval: int = 2000,
        enabled: bool = True,
        process_group: Any = None,
    ) -> None:
        super().__init__(
            device, init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )
        self.process_group = process_group

    def _divide(self, optimizer: Any, inverse: Tensor, allow_fp16: bool) -> list[Tensor]:
        """Multiply gradients in place, those of float16 too; whether one of any rank was not finite."""
        found = [
            each.full_tensor() if hasattr(each, "full_tensor") else each
            for each in super()._divide(optimizer, inverse, allow_fp16=True)
        ]
        worst = found[0] if found else torch.zeros((), device=inverse.device)
        for each in found[1:]:
            worst = worst.maximum(each.to(worst.device))
        torch.distributed.all_reduce(
            worst, torch.distributed.ReduceOp.MAX, group=self.process_group
        )
        return [worst]
