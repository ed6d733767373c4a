"""An optimizer whose states lie in several processes, each parameter's in one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.ecosystem.distributed.algorithms.join import Join, Joinable, JoinHook

from .optimizer import Closure, Optimizer, ParamsT

__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """Steps by another optimizer, of which each process has the states of some parameters.

    All processes have the same parameters and gradients, as `DistributedDataParallel` gives them. Each
    updates its own ones and sends them to the others.

    Args:
        params: what to optimize, in the same order on all ranks.
        optimizer_class: of the optimizer that steps.
        process_group: the processes; None for all.
        parameters_as_bucket_view: accepted.
        overlap_with_ddp: refused.
        **defaults: options of the optimizer.

    Attributes:
        optim: the optimizer of this process's parameters.

    Raises:
        NotImplementedError: to overlap with `DistributedDataParallel`.
    """

    def __init__(
        self,
        params: ParamsT,
        optimizer_class: Callable[..., Any],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        if overlap_with_ddp:
            raise NotImplementedError(
                "overlap_with_ddp is not part of mindtorch: gradients are summed before step() is called"
            )
        dist = torch.distributed
        self.process_group = process_group or dist.group.WORLD
        self.rank = dist.get_rank(process_group)
        self.world_size = dist.get_world_size(process_group)
        self._owners: dict[Tensor, int] = {}
        self._loads = [0] * self.world_size
        self._whole: dict[int, Any] | None = None  # all states, where they have been gathered
        self.optim: Any = None
        Optimizer.__init__(self, params, defaults)
        Joinable.__init__(self)
        self.optim = optimizer_class([self._own(group) for group in self.param_groups], **defaults)
        self.state = self.optim.state
        self._tell(self.optim.param_groups, self.param_groups)

    # ---- who has what ------------------------------------------------------------------------------

    def _share_out(self, params: list[Tensor]) -> None:
        """Give each parameter to the process that has least, the largest first."""
        for p in sorted(params, key=lambda p: -p.numel()):
            owner = self._loads.index(min(self._loads))
            self._owners[p] = owner
            self._loads[owner] += p.numel()

    def _own(self, group: dict[str, Any]) -> dict[str, Any]:
        """A group with this process's parameters alone."""
        held = [i for i, p in enumerate(group["params"]) if self._owners[p] == self.rank]
        own = {**group, "params": [group["params"][i] for i in held]}
        if "param_names" in group:
            own["param_names"] = [group["param_names"][i] for i in held]
        return own

    @staticmethod
    def _tell(source: list[dict[str, Any]], target: list[dict[str, Any]]) -> None:
        """Copy the options of groups."""
        for new, old in zip(source, target, strict=True):
            old.update({k: v for k, v in new.items() if k not in ("params", "param_names")})

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters, with options of their own; all ranks do."""
        super().add_param_group(param_group)
        added = self.param_groups[-1]
        self._share_out(added["params"])
        if self.optim is not None:
            self.optim.add_param_group(self._own(added))
            self._tell(self.optim.param_groups[-1:], [added])

    def _numbers(self) -> dict[Tensor, int]:
        params = [p for group in self.param_groups for p in group["params"]]
        return {p: number for number, p in enumerate(params)}

    # ---- steps -------------------------------------------------------------------------------------

    def step(self, closure: Closure | None = None, **kwargs: Any) -> Any:
        """Update the parameters, on all ranks together.

        Args:
            closure: computes the loss again and returns it.
            **kwargs: of the optimizer's own step.

        Returns:
            What the closure returned, or None.
        """
        Join.notify_join_context(self)
        self._tell(self.param_groups, self.optim.param_groups)  # schedulers have changed ours
        loss = self.optim.step(**kwargs) if closure is None else self.optim.step(closure, **kwargs)
        self._tell(self.optim.param_groups, self.param_groups)
        self._whole = None
        works = [
            torch.distributed.broadcast(
                p.detach(), group=self.process_group, group_src=owner, async_op=True
            )
            for p, owner in self._owners.items()
        ]
        for work in works:
            work.wait()
        return loss

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What a process does that has made its steps: it steps with the gradients that it has.

        Args:
            **kwargs: options of the block; none is meant.
        """
        return _Steps(self)

    @property
    def join_device(self) -> torch.device:
        """Of the parameters."""
        return next(iter(self._owners)).device

    @property
    def join_process_group(self) -> Any:
        """The processes."""
        return self.process_group

    # ---- state -------------------------------------------------------------------------------------

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gather all states on one rank, whose `state_dict` has them then. All ranks call it together.

        Args:
            to: the rank.
        """
        numbers = self._numbers()
        own = {
            numbers[p]: {
                k: v.detach().to("cpu", copy=True) if isinstance(v, Tensor) else v
                for k, v in state.items()
            }
            for p, state in self.optim.state.items()
        }
        here = torch.distributed.get_rank() == to
        found: list[Any] | None = [None] * self.world_size if here else None
        torch.distributed.gather_object(own, found, dst=to, group=self.process_group)
        self._whole = None
        if found is not None:
            merged = {number: state for part in found for number, state in part.items()}
            self._whole = dict(sorted(merged.items()))

    def state_dict(self) -> dict[str, Any]:
        """All that is needed to go on later, as the optimizer has it that steps in one process.

        Raises:
            RuntimeError: if the states have not been gathered on this rank since the last step.
        """
        if self._whole is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                "`consolidate_state_dict(to=...)` on all ranks beforehand if you meant to save the global "
                "state."
            )
        found = super().state_dict()
        return {**found, "state": self._whole}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take a state over; each rank keeps the states of its parameters. All ranks have the whole.

        Raises:
            ValueError: if groups differ in number or size.
        """
        numbers = self._numbers()
        before = self.state
        super().load_state_dict({**state_dict, "state": {}})
        self.state = before
        own_groups = [self._own(group) for group in self.param_groups]
        own = [p for group in own_groups for p in group["params"]]
        states = {
            i: state_dict["state"][numbers[p]]
            for i, p in enumerate(own)
            if numbers[p] in state_dict["state"]
        }
        packed, first = [], 0
        for group in own_groups:
            last = first + len(group["params"])
            packed.append({**group, "params": list(range(first, last))})
            first = last
        self.optim.load_state_dict({"state": states, "param_groups": packed})
        self.state = self.optim.state
        self._whole = None


class _Steps(JoinHook):
    """The part in others' steps of a process that has made its own."""

    def __init__(self, optimizer: ZeroRedundancyOptimizer) -> None:
        self._optimizer = optimizer

    def main_hook(self) -> None:
        """Update this process's parameters and send them."""
        self._optimizer.step()
