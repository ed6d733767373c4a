"""How averages of models are kept: of one tensor, and of lists of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor

__all__ = ["get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn"]

Tensors = Sequence[Tensor]


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


def _real_or_complex(tensors: Tensors) -> bool:
    return tensors[0].is_floating_point() or tensors[0].is_complex()


def get_ema_multi_avg_fn(decay: float = 0.999) -> Any:
    """What keeps moving averages of lists of tensors.

    Raises:
        ValueError: if ``decay`` is not between 0 and 1.
    """
    _check_decay(decay)

    @torch.no_grad()
    def ema_update(averages: Tensors, current: Tensors, _: Any) -> None:
        if _real_or_complex(averages):
            torch._foreach_lerp_(averages, current, 1 - decay)
        else:
            for kept, new in zip(averages, current, strict=True):
                kept.copy_(kept * decay + new * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Any:
    """What keeps averages of lists of tensors in which all states count the same."""

    @torch.no_grad()
    def swa_update(averages: Tensors, current: Tensors, num_averaged: Any) -> None:
        count = float(num_averaged) + 1
        if _real_or_complex(averages):
            torch._foreach_lerp_(averages, current, 1 / count)
        else:
            for kept, new in zip(averages, current, strict=True):
                kept.copy_(kept + (new - kept) / count)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Any:
    """What gives the moving average of a tensor.

    Raises:
        ValueError: if ``decay`` is not between 0 and 1.
    """
    _check_decay(decay)

    @torch.no_grad()
    def ema_update(average: Tensor, current: Tensor, num_averaged: Any) -> Any:
        return decay * average + (1 - decay) * current

    return ema_update


def get_swa_avg_fn() -> Any:
    """What gives the average of a tensor in which all states count the same."""

    @torch.no_grad()
    def swa_update(average: Tensor, current: Tensor, num_averaged: Any) -> Any:
        return average + (current - average) / (num_averaged + 1)

    return swa_update
