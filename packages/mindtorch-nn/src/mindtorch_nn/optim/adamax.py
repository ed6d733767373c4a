"""Adamax, the form of Adam with the largest gradient for a norm (Kingma and Ba, 2014)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor

from .optimizer import ParamsT
from .stepping import (
    Member,
    Stepping,
    add_quotient,
    check,
    check_betas,
    check_lr,
    decayed,
    new_step,
    no_dimensions,
    zeros,
)

__all__ = ["Adamax"]


class Adamax(Stepping):
    """Steps along the average of gradients in units of their largest, which fades.

    Args:
        params: what to optimize.
        lr: learning rate.
        betas: what remains of the average and of the largest gradient at each step.
        eps: added to the denominator.
        weight_decay: factor of the parameters that is added to their gradients.
        foreach: accepted; without effect.
        maximize: whether the loss is maximised.
        differentiable: whether the step is recorded.
        capturable: whether numbers of steps live on the parameters' device, which is not the CPU.

    Raises:
        ValueError: for options out of their range.

    Example:
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.Adamax([w], lr=0.5)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> bool(w < 1)
        True
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check(eps >= 0.0, f"Invalid epsilon value: {eps}")
        check_betas(betas)
        check(weight_decay >= 0.0, f"Invalid weight_decay value: {weight_decay}")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _make_state(self, group: dict[str, Any], p: Any) -> dict[str, Any]:
        return {"step": new_step(group, p), "exp_avg": zeros(p), "exp_inf": zeros(p)}

    def _one(self, group: dict[str, Any]) -> Callable[[Member, Any], None]:
        beta1, beta2 = group["betas"]
        lr, eps = no_dimensions(group["lr"]), group["eps"]

        def update(m: Member, step: Any) -> None:
            g = decayed(m, group)
            average, largest = m.state["exp_avg"], m.state["exp_inf"]
            average.lerp_(g, 1 - beta1)
            largest.copy_(torch.maximum(largest.mul(beta2), g.abs().add_(eps)))
            add_quotient(m.p, average, largest, -lr / (1 - beta1**step))

        return update
