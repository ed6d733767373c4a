"""Adadelta (Zeiler, 2012)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_core import Tensor

from .optimizer import ParamsT
from .stepping import Member, Stepping, check, check_lr, decayed, new_step, no_dimensions, zeros

__all__ = ["Adadelta"]


class Adadelta(Stepping):
    """Steps in units of the root of the average of squared steps, over that of squared gradients.

    Args:
        params: what to optimize.
        lr: factor of the steps.
        rho: what remains of both averages at each step.
        eps: added to both averages.
        weight_decay: factor of the parameters that is added to their gradients.
        foreach: accepted; without effect.
        capturable: whether numbers of steps live on the parameters' device, which is not the CPU.
        maximize: whether the loss is maximised.
        differentiable: whether the step is recorded.

    Raises:
        ValueError: for options out of their range.

    Example:
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.Adadelta([w], lr=1.0)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> bool(w < 1)
        True
    """

    _counts = False

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check(0.0 <= rho <= 1.0, f"Invalid rho value: {rho}")
        check(eps >= 0.0, f"Invalid epsilon value: {eps}")
        check(weight_decay >= 0.0, f"Invalid weight_decay value: {weight_decay}")
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _make_state(self, group: dict[str, Any], p: Any) -> dict[str, Any]:
        return {"step": new_step(group, p), "square_avg": zeros(p), "acc_delta": zeros(p)}

    def _one(self, group: dict[str, Any]) -> Callable[[Member, Any], None]:
        rho, eps, lr = group["rho"], group["eps"], no_dimensions(group["lr"])

        def update(m: Member, step: Any) -> None:
            g = decayed(m, group)
            square, steps = m.state["square_avg"], m.state["acc_delta"]
            square.mul_(rho).addcmul_(g, g, value=1 - rho)
            delta = steps.add(eps).sqrt_().clone() / square.add(eps).sqrt_() * g
            steps.mul_(rho).addcmul_(delta, delta, value=1 - rho)
            m.p.sub_(delta * lr)

        return update
