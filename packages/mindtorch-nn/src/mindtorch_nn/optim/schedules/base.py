"""What all schedules of learning rates have in common."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from mindtorch_core import Tensor
from mindtorch_core.utils._constructed import Constructed
from mindtorch_core.utils._own_frames import warn_user

from ..optimizer import Optimizer
from ..stepping import no_dimensions

__all__ = ["LRScheduler", "one_for_each_group", "set_option", "values_of"]

EPOCH_DEPRECATION_WARNING: Final = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. "
    "Please use `scheduler.step()` to step the scheduler. During the deprecation, if epoch is different "
    "from None, the closed form is used instead of the new chainable form, where available."
)
_ORDER_WARNING: Final = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. Call them in the opposite order: "
    "`optimizer.step()` before `lr_scheduler.step()`, or the first value of the learning rate schedule "
    "is skipped."
)


def _own(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value


def one_for_each_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """An option that may be given once, or once for each group.

    Raises:
        ValueError: if a list has another length.
    """
    groups = len(optimizer.param_groups)
    if isinstance(value, list | tuple):
        if len(value) != groups:
            raise ValueError(
                f"{name} must have the same length as optimizer.param_groups. {name} has "
                f"{len(value)} values, param_groups has {groups}."
            )
        return [_own(each) for each in value]
    return [_own(value) for _ in range(groups)]


def values_of(optimizer: Optimizer, key: str) -> list[Any]:
    """An option of all groups."""
    return [_own(group[key]) for group in optimizer.param_groups]


def set_option(group: dict[str, Any], key: str, value: Any) -> None:
    """Change an option; a tensor stays the same tensor."""
    if isinstance(group[key], Tensor):
        group[key].fill_(no_dimensions(value))
    else:
        group[key] = value


def check_optimizer(optimizer: Any) -> None:
    """Refuse what is no optimizer.

    Raises:
        TypeError: if it is none.
    """
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def functions_to_state(functions: Sequence[Any]) -> list[Any]:
    """What is saved of functions: the attributes of objects, None for plain functions."""
    return [None if isinstance(fn, types.FunctionType) else fn.__dict__.copy() for fn in functions]


class LRScheduler(Constructed):
    """Base of schedules: sets the learning rates of an optimizer's groups when it is stepped.

    Args:
        optimizer: whose learning rates change.
        last_epoch: number of the last step; -1 to begin.

    Raises:
        TypeError: if ``optimizer`` is none.
        KeyError: if a schedule goes on whose beginning the optimizer does not know.
    """

    _get_lr_called_within_step: bool = False
    _is_initial: bool = False
    # The values by the number of steps alone, for schedules that have such a formula.
    _get_closed_form_lr: Callable[[], list[Any]] | None = None
    # Attributes that are not saved.
    _unsaved: tuple[str, ...] = ("optimizer",)

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _own(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler "
                    f"with last_epoch >= 0. Load the optimizer's state first, or begin with -1."
                )
        self.base_lrs: list[Any] = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        optimizer.__dict__.setdefault("_opt_called", False)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key not in self._unsaved}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave; load the optimizer's state as well."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The learning rates that the last step set, one for each group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The learning rates of the current step; for schedules to define."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Go on by one step, or to a given one.

        Args:
            epoch: number of the step; deprecated.
        """
        if self._step_count == 1 and not getattr(self.optimizer, "_opt_called", True):
            warn_user(_ORDER_WARNING)
        self._step_count += 1
        if epoch is not None:
            warn_user(EPOCH_DEPRECATION_WARNING)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        with self._stepping():
            if epoch is None:
                self.last_epoch += 1
                values = self.get_lr()
            else:
                self.last_epoch = epoch
                closed = self._get_closed_form_lr
                values = self.get_lr() if closed is None else closed()
        self._set(values)

    def _set(self, values: list[Any]) -> None:
        for group, lr in zip(self.optimizer.param_groups, values, strict=True):
            set_option(group, "lr", lr)
        self._last_lr: list[Any] = values_of(self.optimizer, "lr")

    @contextmanager
    def _stepping(self) -> Iterator[None]:
        """While a step asks for its learning rates."""
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False

    def _warn_outside(self) -> None:
        """Warn users who ask for the rates of a step that is not taken."""
        if not self._get_lr_called_within_step:
            warn_user(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
            )

    def _scaled(self, factor: Any) -> list[Any]:
        """The current rates times a factor."""
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _current(self) -> list[Any]:
        return values_of(self.optimizer, "lr")
