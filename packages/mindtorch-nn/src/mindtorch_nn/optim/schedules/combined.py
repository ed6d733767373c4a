"""Schedules made of schedules."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, set_option, values_of
from .plateau import ReduceLROnPlateau

__all__ = ["ChainedScheduler", "SequentialLR"]


class _Combined(LRScheduler):
    """What has parts with states of their own."""

    _schedulers: Sequence[Any]
    _unsaved = ("optimizer", "_schedulers")

    def _check_parts(self, optimizer: Any, schedulers: Sequence[Any]) -> None:
        name = type(self).__name__
        for i, part in enumerate(schedulers):
            if not hasattr(part, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
            if isinstance(part, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional "
                    f"kwargs to be specified when calling `step`, but got one at index {i} in the given "
                    f"schedulers sequence."
                )
            if part.optimizer is not optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(part).__name__} at index {i} has {part.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
                )

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer, and the states of the parts."""
        state = super().state_dict()
        state["_schedulers"] = [part.state_dict() for part in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        rest = {key: value for key, value in state_dict.items() if key != "_schedulers"}
        self.__dict__.update(rest)
        for part, saved in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            part.load_state_dict(saved)


class ChainedScheduler(_Combined):
    """Steps several schedules one after the other, each from what the one before has set.

    Args:
        schedulers: the schedules.
        optimizer: theirs.

    Raises:
        TypeError: if one is no schedule.
        ValueError: if there is none, or one of another optimizer.
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if not schedulers:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no "
                f"scheduler."
            )
        optimizer = optimizer or schedulers[0].optimizer
        self._check_parts(optimizer, schedulers)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = values_of(optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Step all of them."""
        for part in self._schedulers:
            part.step()
        self._last_lr = values_of(self.optimizer, "lr")


class SequentialLR(_Combined):
    """Schedules that take turns: each begins at its milestone.

    Args:
        optimizer: whose learning rates change.
        schedulers: the schedules.
        milestones: at which steps all but the first begin.
        last_epoch: number of the last step; -1 to begin.

    Raises:
        TypeError: if one is no schedule.
        ValueError: if there is none, one of another optimizer, or milestones do not fit.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> schedulers = torch.optim.lr_scheduler
        >>> warm = schedulers.ConstantLR(optimizer, factor=0.1, total_iters=1)
        >>> decay = schedulers.ExponentialLR(optimizer, gamma=0.5)
        >>> scheduler = schedulers.SequentialLR(optimizer, [warm, decay], milestones=[1])
        >>> rates = []
        >>> for epoch in range(3):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [0.1, 1.0, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        if not schedulers:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler, but got no scheduler."
            )
        self._check_parts(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the "
                f"number of milestone points, but got number of schedulers {len(schedulers)} and the "
                f"number of milestones to be equal to {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            set_option(group, "lr", group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Take back the first step that every schedule does when it is made."""
        found = self if sched is None else sched
        if hasattr(found, "_schedulers"):
            for part in found._schedulers:
                self.recursive_undo(part)
        elif hasattr(found, "last_epoch"):
            found.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]
        """Step the schedule whose turn it is."""
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        part = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            part._update_lr(0)
        else:
            part.step()
        self._last_lr = part.get_last_lr()
