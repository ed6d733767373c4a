"""`Join`: a block in which processes may take different numbers of steps, by PyTorch's names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, NamedTuple

from ..dispatch.functions import fn
from ..values.devices import device
from ..values.user_warnings import warn_user
from .collectives import all_reduce
from .groups import ProcessGroup, chosen
from .work import Work

__all__ = ["Join", "JoinHook", "Joinable"]

_SKEW: Final = 1000  # steps after which it is said that one process waits for the others


class JoinHook:
    """What a process that has no steps left does while others go on: to be overridden."""

    def main_hook(self) -> None:
        """Take part in the collective operations of one step of the others."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Do what is left when no process has steps.

        Args:
            is_last_joiner: whether this process is one of those that took the most steps.
        """


class _JoinConfig(NamedTuple):
    """What a `Joinable` knows of the block that it is in."""

    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool


_APART: Final = _JoinConfig(enable=False, throw_on_early_termination=False, is_first_joinable=False)


class Joinable(ABC):
    """Something whose steps use collective operations, and which knows how to stand in for them.

    Before those of each step it calls `Join.notify_join_context` with itself.
    """

    @abstractmethod
    def __init__(self) -> None:
        super().__init__()
        self._join_config = _APART

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What it does when this process has no steps left.

        Args:
            **kwargs: options of the block, the same for all that are in it.
        """

    @property
    @abstractmethod
    def join_device(self) -> device:
        """Where the block's own collective operations have their tensors."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """The processes."""


class Join:
    """A block in which processes may take different numbers of steps.

    At its end a process calls the main hooks of all its joinables for each step that others still take,
    then the post-hooks once.

    Args:
        joinables: of one group, in the order of their collective operations in a step.
        enable: whether the block does anything.
        throw_on_early_termination: whether all processes raise as soon as one has no steps left.
        **kwargs: options for all `Joinable.join_hook`.

    Raises:
        ValueError: for no joinable, or joinables of different groups.
        RuntimeError: at the end, where that was asked for.
    """

    def __init__(
        self,
        joinables: Sequence[Joinable],
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs: Any,
    ) -> None:
        if len(joinables) == 0:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = joinables
        self._join_hooks = [each.join_hook(**kwargs) for each in joinables]
        self._enable = enable
        self._throw_on_early_termination = throw_on_early_termination
        self._configure()
        self._process_group = joinables[0].join_process_group
        if any(each.join_process_group != self._process_group for each in joinables):
            raise ValueError("Using join context manager with multiple process groups")
        own: ProcessGroup = chosen(self._process_group)
        self._rank = own.position
        self._device = joinables[0].join_device

    def _configure(self) -> None:
        for number, each in enumerate(self._joinables):
            each._join_config = _JoinConfig(
                self._enable, self._throw_on_early_termination, is_first_joinable=number == 0
            )

    def __enter__(self) -> None:
        """Begin: each joinable says from now on that it takes a step."""
        self._configure()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stand in for steps until no process takes one."""
        try:
            if self._enable and kind is None:
                self._stand_in()
        finally:
            for each in self._joinables:
                each._join_config = _APART

    def _stand_in(self) -> None:
        steps = 0
        while self._sum(0):
            if steps == _SKEW + 1:
                warn_user(
                    f"Detected uneven input skew of greater than {_SKEW}. This means that rank "
                    f"{self._rank} has at least {_SKEW} fewer inputs than other currently-active ranks. "
                    "This level of skew could lead to performance degradation during training.",
                )
            if self._throw_on_early_termination:
                self._sum(1)
                raise RuntimeError(f"Rank {self._rank} exhausted all inputs.")
            for hook in self._join_hooks:
                hook.main_hook()
            steps += 1
        for hook in self._join_hooks:
            hook.post_hook(steps == 0)

    def _sum(self, own: int) -> float:
        told = fn.full((1,), float(own), device=self._device)
        all_reduce(told, group=self._process_group)
        return float(told.item())

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Work | None:
        """Tell the block that this process takes a step; the first joinable of the block does so.

        Returns:
            The work that counts, in its one result, the processes that take it; None for all other
            joinables and outside of a block.

        Raises:
            RuntimeError: if a process has no steps left and the block is to raise then.
        """
        if not hasattr(joinable, "_join_config"):
            raise AssertionError(
                f"Check that the {type(joinable)} constructor calls the ``Joinable`` constructor"
            )
        config = joinable._join_config
        if not config.is_first_joinable or not config.enable:
            return None
        where, group = joinable.join_device, joinable.join_process_group
        work = all_reduce(fn.full((1,), 1.0, device=where), group=group, async_op=True)
        if config.throw_on_early_termination:
            ended = fn.full((1,), 0.0, device=where)
            all_reduce(ended, group=group)
            if ended.item():
                raise RuntimeError(
                    "Detected at least one rank that exhausted inputs. Throwing across all ranks."
                )
        return work
