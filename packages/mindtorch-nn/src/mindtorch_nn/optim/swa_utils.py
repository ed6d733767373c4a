"""Averages of models, and the learning rate for making them: the names of ``torch.optim.swa_utils``."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from mindtorch_core import no_grad

from .averages import (
    get_ema_avg_fn,
    get_ema_multi_avg_fn,
    get_swa_avg_fn,
    get_swa_multi_avg_fn,
)
from .optimizer import Optimizer
from .schedules.base import LRScheduler, one_for_each_group

if TYPE_CHECKING:  # what `_late` finds
    from .averaged_model import AveragedModel

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


@no_grad()
def update_bn(loader: Iterable[Any], model: Any, device: Any = None) -> None:
    """Compute the running statistics of batch norms anew, for parameters that were averaged.

    Args:
        loader: batches, or lists whose first element is one.
        model: a module; it runs in training mode.
        device: where batches are moved to.
    """
    norms = [m for m in model.modules() if hasattr(m, "reset_running_stats")]
    norms = [m for m in norms if hasattr(m, "momentum")]
    if not norms:
        return
    momenta = [m.momentum for m in norms]
    was_training = model.training
    for m in norms:
        m.reset_running_stats()
    model.train()
    try:
        for m in norms:
            m.momentum = None
        for batch in loader:
            x = batch[0] if isinstance(batch, list | tuple) else batch
            model(x if device is None else x.to(device))
    finally:
        for m, momentum in zip(norms, momenta, strict=True):
            m.momentum = momentum
        model.train(was_training)


class SWALR(LRScheduler):
    """Goes to a given learning rate and stays there.

    Args:
        optimizer: whose learning rates change.
        swa_lr: where to go, or one for each group.
        anneal_epochs: in how many steps.
        anneal_strategy: ``cos`` or ``linear``.
        last_epoch: number of the last step; -1 to begin.

    Raises:
        ValueError: for an unknown strategy or a negative number of steps.
    """

    _unsaved = ("optimizer", "anneal_func")

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: Any = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        lrs = one_for_each_group("swa_lr", optimizer, swa_lr)
        for group, lr in zip(optimizer.param_groups, lrs, strict=True):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        """The share of the way after a share of the steps."""
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def _share(self, step: int) -> float:
        return self.anneal_func(max(0, min(1, step / max(1, self.anneal_epochs))))

    def get_lr(self) -> list[Any]:
        """The learning rates of the current step."""
        self._warn_outside()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        found = []
        for group in self.optimizer.param_groups:
            target = group["swa_lr"]
            first = target if before == 1 else (group["lr"] - before * target) / (1 - before)
            found.append(target * now + first * (1 - now))
        return found


def _late(name: str) -> Any:
    if name == "AveragedModel":
        from .averaged_model import AveragedModel  # optimizers alone need no modules

        return AveragedModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = _late
