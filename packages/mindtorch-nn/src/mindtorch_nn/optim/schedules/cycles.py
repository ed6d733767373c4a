"""Schedules that rise and fall, of learning rates and of momentum."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal

from ..optimizer import Optimizer
from .base import LRScheduler, check_optimizer, one_for_each_group, set_option

__all__ = ["CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR"]


class _WithMomentum(LRScheduler):
    """A schedule that may move momentum against the learning rate."""

    use_beta1: bool

    def _set_up_momentum(
        self, optimizer: Optimizer, least: Any, most: Any, *, begins: bool
    ) -> tuple[list[Any], list[Any]]:
        """The smallest and the largest momentum of each group."""
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
            )
        self.use_beta1 = "betas" in optimizer.defaults
        bases = one_for_each_group("base_momentum", optimizer, least)
        tops = one_for_each_group("max_momentum", optimizer, most)
        if begins:
            for group, base, top in zip(optimizer.param_groups, bases, tops, strict=True):
                self._set_momentum(group, top)
                group["max_momentum"] = top
                group["base_momentum"] = base
        return bases, tops

    def _set_momentum(self, group: dict[str, Any], value: Any) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class CyclicLR(_WithMomentum):
    """The learning rate goes up and down between two values (Smith, 2017).

    Args:
        optimizer: whose learning rates change.
        base_lr, max_lr: the values, or one for each group.
        step_size_up, step_size_down: how many steps it goes up, and down (None for as many).
        mode: ``triangular``, ``triangular2`` (half as high each cycle) or ``exp_range``.
        gamma: factor of the height at each step for ``exp_range``.
        scale_fn: the height by cycle or step, instead of ``mode``.
        scale_mode: whether ``scale_fn`` is given the ``cycle`` or ``iterations``.
        cycle_momentum: whether momentum goes the other way.
        base_momentum, max_momentum: between what values.
        last_epoch: number of the last step; -1 to begin.

    Raises:
        TypeError: if ``optimizer`` is none.
        ValueError: for an unknown mode, or an optimizer without momentum.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
        >>> scheduler = torch.optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.1, max_lr=0.3, step_size_up=2)
        >>> rates = []
        >>> for epoch in range(5):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> [round(rate, 4) for rate in rates]
        [0.1, 0.2, 0.3, 0.2, 0.1]
    """

    _unsaved = ("optimizer", "_scale_fn_ref")

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = one_for_each_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, base_lrs, strict=True):
                set_option(group, "lr", lr)
        self.max_lrs = one_for_each_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._set_up_momentum(
                optimizer, base_momentum, max_momentum, begins=last_epoch == -1
            )
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is not None:
            return
        heights: dict[str, Callable[[float], float]] = {
            "triangular": _full_height,
            "triangular2": _half_as_high,
            "exp_range": partial(_power, self.gamma),
        }
        self._scale_fn_ref = heights[self.mode]
        self.scale_mode = "iterations" if self.mode == "exp_range" else "cycle"

    def scale_fn(self, x: float) -> float:
        """How high a cycle is."""
        return (self._scale_fn_custom or self._scale_fn_ref)(x)

    def get_lr(self) -> list[Any]:
        """The learning rates of the current step; sets momentum as well."""
        self._warn_outside()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        share = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        share *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            ranges = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (least, most) in zip(self.optimizer.param_groups, ranges, strict=True):
                self._set_momentum(group, most - (most - least) * share)
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [base + (top - base) * share for base, top in pairs]

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer; of the function, what an object holds."""
        state = super().state_dict()
        fn = self._scale_fn_custom
        plain = fn is None or isinstance(fn, types.FunctionType)
        state["_scale_fn_custom"] = None if plain else vars(fn).copy()
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        state = dict(state_dict)
        saved = state.pop("_scale_fn_custom")
        super().load_state_dict(state)
        if saved is not None and self._scale_fn_custom is not None:
            vars(self._scale_fn_custom).update(saved)
        self._init_scale_fn()


def _full_height(x: float) -> float:
    return 1.0


def _half_as_high(x: float) -> float:
    return float(1 / (2.0 ** (x - 1)))


def _power(gamma: float, x: float) -> float:
    return float(gamma**x)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a wave of the cosine, again and again (Loshchilov and Hutter, 2017).

    Args:
        optimizer: whose learning rates change.
        T_0: how many steps the first wave takes.
        T_mult: by how much longer each wave is.
        eta_min: smallest learning rate.
        last_epoch: number of the last step; -1 to begin.

    Raises:
        ValueError: if a number of steps is not positive, or ``eta_min`` no number.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
        >>> rates = []
        >>> for epoch in range(4):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> [round(rate, 4) for rate in rates]
        [1.0, 0.5, 1.0, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: Any,
        T_mult: Any = 1,
        eta_min: Any = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, float | int):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The learning rates of the current step."""
        self._warn_outside()
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on by one step, or to a given one, which may lie between two.

        Raises:
            ValueError: if it is negative.
        """
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            epoch = 0 if epoch is None else epoch
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        with self._stepping():
            self._set(self.get_lr())

    def _go_to(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            before = self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_cur = epoch - before
            self.T_i = self.T_0 * self.T_mult**n


_UP: Final = ("initial_lr", "max_lr", "max_momentum", "base_momentum")
_BACK: Final = ("max_lr", "initial_lr", "base_momentum", "max_momentum")
_DOWN: Final = ("max_lr", "min_lr", "base_momentum", "max_momentum")
_OUT: Final = ("initial_lr", "min_lr", "max_momentum", "max_momentum")


def _phase(end: float, names: tuple[str, str, str, str]) -> dict[str, Any]:
    keys = ("start_lr", "end_lr", "start_momentum", "end_momentum")
    return {"end_step": end, **dict(zip(keys, names, strict=True))}


class OneCycleLR(_WithMomentum):
    """The learning rate rises once and falls far below where it began (Smith and Topin, 2018).

    Args:
        optimizer: whose learning rates change.
        max_lr: largest learning rate, or one for each group.
        total_steps: number of all steps; or ``epochs`` times ``steps_per_epoch``.
        epochs, steps_per_epoch: see there.
        pct_start: share of the steps in which it rises.
        anneal_strategy: ``cos`` or ``linear``.
        cycle_momentum: whether momentum goes the other way.
        base_momentum, max_momentum: between what values.
        div_factor: by how much smaller the first learning rate is than the largest.
        final_div_factor: by how much smaller the last one is than the first.
        three_phase: whether it falls as fast as it rises, and then on.
        last_epoch: number of the last step; -1 to begin.

    Raises:
        TypeError: if ``optimizer`` is none.
        ValueError: for numbers of steps that are not positive, a share out of 0 to 1, an unknown
            strategy, or an optimizer without momentum.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0, momentum=0.9)
        >>> schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
        >>> [round(rate, 6) for rate in schedule.get_last_lr()]
        [0.04]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: Any = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _total_steps(total_steps, epochs, steps_per_epoch)
        rise = float(pct_start * self.total_steps)
        if three_phase:
            self._schedule_phases = [
                _phase(rise - 1, _UP),
                _phase(2 * rise - 2, _BACK),
                _phase(self.total_steps - 1, _OUT),
            ]
        else:
            self._schedule_phases = [_phase(rise - 1, _UP), _phase(self.total_steps - 1, _DOWN)]
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        tops = one_for_each_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, top in zip(optimizer.param_groups, tops, strict=True):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._set_up_momentum(optimizer, base_momentum, max_momentum, begins=last_epoch == -1)
        super().__init__(optimizer, last_epoch)

    def _between(self, start: Any, end: Any, share: float) -> Any:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)
        return (end - start) * share + start

    def get_lr(self) -> list[Any]:
        """The learning rates of the current step; sets momentum as well.

        Raises:
            ValueError: after the last step.
        """
        self._warn_outside()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        start, phase = 0.0, self._schedule_phases[0]
        for later in self._schedule_phases[1:]:
            if step <= phase["end_step"]:
                break
            start, phase = phase["end_step"], later
        share = (step - start) / (phase["end_step"] - start)
        lrs = []
        for group in self.optimizer.param_groups:
            lrs.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._between(*ends, share))
        return lrs


def _total_steps(total: Any, epochs: Any, each: Any) -> int:
    given = {"total_steps": total} if total is not None else {}
    if total is None and epochs is not None and each is not None:
        given = {"epochs": epochs, "steps_per_epoch": each}
    if not given:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, value in given.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return math.prod(given.values())
