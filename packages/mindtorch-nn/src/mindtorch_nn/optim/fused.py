"""Optimizers whose step is one op for all parameters of one device and dtype."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.utils._at_once import at_once

from .stepping import Member, Stepping, no_dimensions

__all__ = ["Fused"]


class Fused(Stepping):
    """Base of optimizers that PyTorch has as fused ops: one serves ``foreach`` and ``fused`` alike."""

    _negates: ClassVar[bool] = True
    _counts: ClassVar[bool] = False

    def _keep_unless(self, skip: Tensor) -> None:
        self.found_inf = skip
        try:
            self.step()
        finally:
            del self.found_inf

    def _check_flags(self, *, fused: Any, foreach: Any, differentiable: bool) -> None:
        if not fused:
            return
        self._step_supports_amp_scaling = True
        if differentiable:
            raise RuntimeError("`fused` does not support `differentiable`")
        if foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    def _check(self, group: dict[str, Any], p: Any, g: Any) -> None:
        super()._check(group, p, g)
        if group.get("fused") and not p.is_floating_point():
            raise RuntimeError(
                f"`fused=True` requires all the params to be floating point Tensors of supported "
                f"devices, but {p.dtype} and {p.device.type}"
            )

    def _run(
        self, group: dict[str, Any], members: list[Member], op: Callable[..., Any], *names: str,
        counted: bool = True, **options: Any,
    ) -> None:  # fmt: skip
        """Count the step and call an op with the parameters of each device and dtype.

        Args:
            group: the group.
            members: its parameters.
            op: takes lists of parameters, gradients and states, then the numbers of steps if they are
                ``counted``.
            *names: of the states; "" for a list that is left empty.
            counted: whether the op takes numbers of steps.
            **options: further arguments of the op.
        """
        alike: dict[Any, list[Member]] = {}
        for member in members:
            alike.setdefault((member.p.device, member.p.dtype), []).append(member)
        if counted:
            self._count(group, members)
        for found in alike.values():
            states: list[list[Tensor]] = [
                [m.state[name] for m in found] if name else [] for name in names
            ]
            if counted:
                states.append([m.state["step"] for m in found])
            op(
                [m.p for m in found],
                [m.g for m in found],
                *states,
                lr=no_dimensions(group["lr"]),
                maximize=group["maximize"],
                grad_scale=getattr(self, "grad_scale", None),
                found_inf=getattr(self, "found_inf", None),
                **options,
            )
        found_inf = getattr(self, "found_inf", None)
        if counted and found_inf is not None:
            for m in members:
                step = m.state["step"]
                step -= found_inf.to(step.device, non_blocking=True)

    def _looked_at(self, group: dict[str, Any], members: list[Member]) -> Iterator[Tensor]:
        """The numbers of steps on the host, of parameters elsewhere: compositions look at them."""
        steps = ((m.state.get("step"), m.p) for m in members)
        return (s for s, p in steps if s is not None and s.device != p.device)

    def _count(self, group: dict[str, Any], members: list[Member]) -> None:
        hosted = [*self._looked_at(group, members)]
        if hosted:
            with at_once(hosted)():
                torch._foreach_add_(hosted, 1)
        known = {*map(id, hosted)}
        others = [m.state["step"] for m in members if id(m.state["step"]) not in known]
        if others:
            torch._foreach_add_(others, 1)
