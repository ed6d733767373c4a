"""Resilient backpropagation (Riedmiller and Braun, 1993)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor

from .optimizer import ParamsT
from .stepping import Member, Stepping, check, check_lr, new_step, value_of, zeros

__all__ = ["Rprop"]


class Rprop(Stepping):
    """Steps whose size depends on whether a gradient has kept its sign, not on its value.

    Args:
        params: what to optimize.
        lr: first size of all steps.
        etas: factors of a step's size where the sign changes, and where it stays.
        step_sizes: smallest and largest size.
        capturable: whether numbers of steps live on the parameters' device, which is not the CPU.
        foreach: accepted; without effect.
        maximize: whether the loss is maximised.
        differentiable: whether the step is recorded.

    Raises:
        ValueError: for options out of their range.

    Example:
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.Rprop([w], lr=0.5)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> bool(w < 1)
        True
    """

    _counts = False

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check(0.0 < etas[0] < 1.0 < etas[1], f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _make_state(self, group: dict[str, Any], p: Any) -> dict[str, Any]:
        lr = value_of(group["lr"])
        first = complex(lr, lr) if p.is_complex() else lr
        size = torch.full_like(p.grad, first)
        return {"step": new_step(group, p), "prev": zeros(p), "step_size": size}

    def _one(self, group: dict[str, Any]) -> Callable[[Member, Any], None]:
        smaller, larger = group["etas"]
        least, most = group["step_sizes"]

        def update(m: Member, step: Any) -> None:
            previous, size = m.state["prev"], m.state["step_size"]
            agreement = m.g * previous.clone()
            turned = agreement < 0
            factor = torch.ones_like(size).masked_fill(agreement > 0, larger)
            size.mul_(factor.masked_fill(turned, smaller)).clamp_(least, most)
            g = m.g.masked_fill(turned, 0)
            m.p.addcmul_(g.sign(), size, value=-1)
            previous.copy_(g)

        return update
