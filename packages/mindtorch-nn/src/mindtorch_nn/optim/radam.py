"""Adam that waits until its averages can be trusted (Liu et al., 2019)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import mindtorch_core as torch
from mindtorch_core import Tensor

from .optimizer import ParamsT
from .stepping import (
    Member,
    Stepping,
    check,
    check_betas,
    check_lr,
    decayed,
    new_step,
    no_dimensions,
    root,
    zeros,
)

__all__ = ["RAdam"]


class RAdam(Stepping):
    """Rectified Adam: the adaptive learning rate is used once its variance is small enough.

    Args:
        params: what to optimize.
        lr: learning rate.
        betas: what remains of both averages at each step.
        eps: added to the denominator.
        weight_decay: factor of the parameters that is added to their gradients.
        decoupled_weight_decay: whether parameters decay by themselves, as in `AdamW`.
        foreach: accepted; without effect.
        maximize: whether the loss is maximised.
        capturable: whether numbers of steps live on the parameters' device, which is not the CPU.
        differentiable: whether the step is recorded.

    Raises:
        ValueError: for options out of their range.

    Example:
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.RAdam([w], lr=0.5)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> bool(w < 1)
        True
    """

    _since_then: ClassVar[Mapping[str, Any]] = {
        **Stepping._since_then,
        "decoupled_weight_decay": False,
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
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
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _make_state(self, group: dict[str, Any], p: Any) -> dict[str, Any]:
        return {"step": new_step(group, p), "exp_avg": zeros(p), "exp_avg_sq": zeros(p)}

    def _one(self, group: dict[str, Any]) -> Callable[[Member, Any], None]:
        beta1, beta2 = group["betas"]
        lr, decay = no_dimensions(group["lr"]), group["weight_decay"]
        limit = 2 / (1 - beta2) - 1

        def update(m: Member, step: Any) -> None:
            g = m.g
            if group["decoupled_weight_decay"]:
                if decay != 0:
                    m.p.mul_(1 - lr * decay)
            else:
                g = decayed(m, group)
            average, square = m.state["exp_avg"], m.state["exp_avg_sq"]
            average.lerp_(g, 1 - beta1)
            square.mul_(beta2).addcmul_(g, g, value=1 - beta2)
            correction = 1 - beta2**step
            rho = limit - 2 * step * (beta2**step) / correction
            change = average / (1 - beta1**step) * lr

            def adaptive() -> Any:
                rest = (limit - 4) * (limit - 2) * rho
                share = root((rho - 4) * (rho - 2) * limit / rest)
                return root(correction) / square.sqrt().add(group["eps"]) * share

            if group["capturable"]:
                m.p.sub_(change * torch.where(rho > 5.0, adaptive(), 1.0))
            else:
                m.p.sub_(change * adaptive() if rho > 5.0 else change)

        return update
