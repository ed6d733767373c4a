"""The schedule that waits for a metric to stop improving."""

from __future__ import annotations

import math
from typing import Any, Literal, SupportsFloat

from mindtorch_core.utils._own_frames import warn_user

from ..optimizer import Optimizer
from .base import EPOCH_DEPRECATION_WARNING, LRScheduler, check_optimizer, set_option, values_of

__all__ = ["ReduceLROnPlateau"]


class ReduceLROnPlateau(LRScheduler):
    """Lowers the learning rate when a metric has not improved for some steps.

    Args:
        optimizer: whose learning rates change.
        mode: ``min`` or ``max``: which way is better.
        factor: of the learning rate.
        patience: after how many steps without improvement.
        threshold: what counts as an improvement.
        threshold_mode: whether that is ``rel`` or ``abs``.
        cooldown: how many steps after a change do not count.
        min_lr: smallest learning rate, or one for each group.
        eps: smallest change.

    Raises:
        TypeError: if ``optimizer`` is none.
        ValueError: for a factor of 1 or more, or unknown modes.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
        >>> for loss in (3.0, 3.0, 3.0):
        ...     schedule.step(loss)
        >>> schedule.get_last_lr()
        [0.1]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: Literal["min", "max"] = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        check_optimizer(optimizer)
        self.factor = factor
        self.optimizer = optimizer
        groups = len(optimizer.param_groups)
        self.default_min_lr: float | None = None
        if isinstance(min_lr, list | tuple):
            if len(min_lr) != groups:
                raise ValueError(f"expected {groups} min_lrs, got {len(min_lr)}")
            self.min_lrs = list(min_lr)
        else:
            self.default_min_lr = min_lr
            self.min_lrs = [min_lr] * groups
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = values_of(optimizer, "lr")
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _init_is_better(self, mode: Any, threshold: float, threshold_mode: Any) -> None:
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode

    def _reset(self) -> None:
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: SupportsFloat, epoch: int | None = None) -> None:  # type: ignore[override]
        """Note a metric, and lower the learning rates if it is time.

        Args:
            metrics: the metric, a number or a tensor of one.
            epoch: number of the step; deprecated.
        """
        current = float(metrics)
        if epoch is not None:
            warn_user(EPOCH_DEPRECATION_WARNING)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = values_of(self.optimizer, "lr")

    def _reduce_lr(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new "
                    f"param group being added to the optimizer. Please modify the `min_lrs` field to "
                    f"match the length of the `optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                set_option(group, "lr", new)

    @property
    def in_cooldown(self) -> bool:
        """Whether steps do not count yet after a change."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "rel":
            return sign * a > sign * best * (1.0 + sign * self.threshold)
        return sign * a > sign * best + self.threshold

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        self.__dict__.update(state_dict)
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)
