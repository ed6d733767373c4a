"""Local SGD: gradients are summed in small groups, and now and then parameters among all processes."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..dispatch.functions import fn
from ..gradients.grad_mode import no_grad
from ..tensors.tensor import Tensor
from ..values.user_warnings import warn_user
from .collectives import all_reduce
from .futures import Future
from .groups import chosen, is_member
from .hooks import GradBucket, mean, noop_hook
from .membership import new_subgroups

__all__ = [
    "HierarchicalModelAverager",
    "ModelAverager",
    "PeriodicModelAverager",
    "PostLocalSGDState",
    "average_parameters",
    "average_parameters_or_parameter_groups",
    "get_params_to_average",
    "post_localSGD_hook",
]

_LOG = logging.getLogger(__name__)


class PostLocalSGDState:
    """What `post_localSGD_hook` keeps from one step to the next, and its options.

    Args:
        process_group: the processes; None for all.
        subgroup: those whose gradients are summed later on; None for those of this machine.
        start_localSGD_iter: how many steps sum among all processes.
        post_local_gradient_allreduce: whether gradients are summed in the subgroup later on.
    """

    __slots__ = (
        "iter", "post_local_gradient_allreduce", "process_group", "start_localSGD_iter", "subgroup",
    )  # fmt: skip

    def __init__(
        self,
        process_group: Any,
        subgroup: Any,
        start_localSGD_iter: int,
        post_local_gradient_allreduce: bool = True,
    ) -> None:
        _LOG.info("Local SGD will be started after %s iterations", start_localSGD_iter)
        self.process_group = process_group
        self.subgroup = subgroup
        self.start_localSGD_iter = start_localSGD_iter
        self.post_local_gradient_allreduce = post_local_gradient_allreduce
        self.iter = 0

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Count a step where the bucket is its last."""
        if bucket.is_last():
            self.iter += 1
        if self.iter == self.start_localSGD_iter:
            _LOG.info("Start to apply local SGD after %s iterations.", self.iter)


def post_localSGD_hook(state: PostLocalSGDState, bucket: GradBucket) -> Future[Tensor]:
    """The mean of all processes' gradients at first, and of the subgroup's later on."""
    if state.iter < state.start_localSGD_iter:
        state.maybe_increase_iter(bucket)
        return mean(state.process_group, bucket.buffer())
    if not state.post_local_gradient_allreduce:
        return noop_hook(None, bucket)
    if state.subgroup is None:
        state.subgroup, _ = new_subgroups()
    return mean(state.subgroup, bucket.buffer())


# ---- means of parameters -----------------------------------------------------------------------------


@no_grad()
def average_parameters(params: Iterable[Tensor], process_group: Any) -> None:
    """Have parameters be the means of all processes'; does nothing in a process outside of the group."""
    if not is_member(process_group):
        return
    held = [*params]
    flat = fn.cat([p.detach().reshape(-1) for p in held])
    flat.div_(chosen(process_group).size())
    all_reduce(flat, group=process_group)
    for p, part in zip(held, flat.split([p.numel() for p in held]), strict=True):
        p.detach().copy_(part.view(p.shape))


def get_params_to_average(
    params: Iterable[Tensor] | Iterable[Mapping[str, Sequence[Tensor]]],
) -> list[Tensor]:
    """The parameters that have a gradient, of a module's or of an optimizer's groups.

    Raises:
        NotImplementedError: for what is neither.
    """
    found: list[Tensor] = []
    for each in params:
        if isinstance(each, Tensor):
            held: Sequence[Tensor] = [each]
        elif isinstance(each, dict):
            held = each["params"]
        else:
            raise NotImplementedError(f"Parameter input of type {type(each)} is not supported")
        found += [p for p in held if p.grad is not None]
    return found


def average_parameters_or_parameter_groups(params: Any, process_group: Any) -> None:
    """Have the parameters with a gradient be the means of all processes'."""
    average_parameters(get_params_to_average(params), process_group)


class ModelAverager(ABC):
    """Says when parameters become the means of all processes'.

    Args:
        process_group: the processes; None for all.
    """

    def __init__(self, process_group: Any = None) -> None:
        self.process_group = chosen(process_group)
        self.step = 0

    @abstractmethod
    def average_parameters(self, params: Any) -> None:
        """Count a step, and take the means if it is time.

        Args:
            params: a module's parameters, or an optimizer's groups.
        """


class PeriodicModelAverager(ModelAverager):
    """Takes the means at each step of a period, after some steps without.

    Args:
        period: in steps.
        warmup_steps: how many steps come before.
        process_group: the processes; None for all.

    Raises:
        ValueError: for a period that is not positive, or a negative number of steps.
    """

    def __init__(self, period: int, warmup_steps: int = 0, process_group: Any = None) -> None:
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        if period < 1:
            raise ValueError("Arg ``period`` must be a positive value.")
        if period == 1:
            warn_user(
                "When period is 1, no need to use model averaging because the communication cost of "
                "all-reducing parameters will be no less than the cost of all-reducing gradients by "
                "DistributedDataParallel in the backward pass. Therefore, only DistributedDataParallel "
                "should be used for this case.",
            )
        self.warmup_steps = warmup_steps
        self.period = period

    def average_parameters(self, params: Any) -> None:
        """Count a step, and take the means if it is time."""
        past = self.step - self.warmup_steps
        if past >= 0 and past % self.period == 0:
            average_parameters_or_parameter_groups(params, self.process_group)
        self.step += 1


class HierarchicalModelAverager(ModelAverager):
    """Takes the means in groups of several sizes, each at a period of its own, after some steps without.

    At a step of several periods only the largest one's group takes them, which has the smaller ones in it.

    Args:
        period_group_size_dict: by period in steps, the size of the groups; the last one is all processes'.
        warmup_steps: how many steps come before.
        process_group: the processes; None for all.

    Raises:
        ValueError: without a period, for one that is not positive, a last size that is not that of the
            group, or a negative number of steps.

    Attributes:
        period_process_group_dict: this process's group by period.
    """

    def __init__(
        self,
        period_group_size_dict: Mapping[int, int] | None = None,
        warmup_steps: int = 0,
        process_group: Any = None,
    ) -> None:
        super().__init__(process_group)
        if not period_group_size_dict:
            raise ValueError("Arg ``period_group_size_dict`` must not be empty.")
        periods, sizes = [*period_group_size_dict], [*period_group_size_dict.values()]
        if periods[0] <= 0:
            raise ValueError(
                "The minimum period in arg ``period_group_size_dict`` must be a positive value."
            )
        if periods[-1] == 1:
            warn_user(
                "When the maximum period in arg ``period_group_size_dict`` is 1, no need to use model "
                "averaging because the communication cost of all-reducing parameters will be no less than "
                "the cost of all-reducing gradients by DistributedDataParallel in the backward pass. "
                "Therefore, only DistributedDataParallel should be used for this case.",
            )
        whole = self.process_group.size()
        if sizes[-1] != whole:
            raise ValueError(
                f"The last value in arg ``period_group_size_dict`` {sizes[-1]} must be equal to the size "
                f"of arg ``process_group`` {whole}."
            )
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        self.warmup_steps = warmup_steps
        self.period_process_group_dict: dict[int, Any] = {}
        for period, size in period_group_size_dict.items():
            group: Any = self.process_group
            if size != whole:
                group, _ = new_subgroups(size, group=group)
            self.period_process_group_dict[period] = group

    def average_parameters(self, params: Any) -> None:
        """Count a step, and take the means if it is time."""
        if self.step >= self.warmup_steps:
            for period in reversed(self.period_process_group_dict):
                if self.step % period == 0:
                    average_parameters_or_parameter_groups(
                        params, self.period_process_group_dict[period]
                    )
                    break
        self.step += 1
