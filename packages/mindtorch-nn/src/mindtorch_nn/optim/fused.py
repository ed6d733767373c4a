"""Optimizers whose step is one op for all parameters of one device and dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import mindtorch_core as torch
from mindtorch_core import Tensor

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
            torch._foreach_add_([m.state["step"] for m in members], 1)
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
            torch._foreach_sub_([m.state["step"] for m in members], [found_inf] * len(members))
