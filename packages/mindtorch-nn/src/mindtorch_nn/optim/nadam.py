"""Adam with Nesterov's momentum (Dozat, 2016)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

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
    value_of,
    zeros,
)

__all__ = ["NAdam"]


class NAdam(Stepping):
    """Adam whose momentum is taken ahead of the step.

    Args:
        params: what to optimize.
        lr: learning rate.
        betas: what remains of both averages at each step.
        eps: added to the denominator.
        weight_decay: factor of the parameters that is added to their gradients.
        momentum_decay: how fast the momentum comes to its full share.
        decoupled_weight_decay: whether parameters decay by themselves, as in `AdamW`.
        foreach: accepted; without effect.
        maximize: whether the loss is maximised.
        capturable: whether numbers of steps live on the parameters' device, which is not the CPU.
        differentiable: whether the step is recorded.

    Raises:
        ValueError: for options out of their range.

    Example:
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.NAdam([w], lr=0.5)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> bool(w < 1)
        True
    """

    _since_then: ClassVar[Mapping[str, Any]] = {
        **Stepping._since_then,
        "decoupled_weight_decay": False,
    }
    _numbers: ClassVar[tuple[str, ...]] = ("step", "mu_product")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
        check(momentum_decay >= 0.0, f"Invalid momentum_decay value: {momentum_decay}")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _make_state(self, group: dict[str, Any], p: Any) -> dict[str, Any]:
        return {
            "step": new_step(group, p),
            "mu_product": new_step(group, p, 1.0),
            "exp_avg": zeros(p),
            "exp_avg_sq": zeros(p),
        }

    def _one(self, group: dict[str, Any]) -> Callable[[Member, Any], None]:
        beta1, beta2 = group["betas"]
        lr = no_dimensions(group["lr"])
        decay, pace = group["weight_decay"], group["momentum_decay"]

        def momentum_at(step: Any) -> Any:
            return beta1 * (1.0 - 0.5 * (0.96 ** (step * pace)))

        def update(m: Member, step: Any) -> None:
            g = m.g
            if group["decoupled_weight_decay"]:
                if decay != 0:
                    m.p.mul_(1 - lr * decay)
            else:
                g = decayed(m, group)
            average, square = m.state["exp_avg"], m.state["exp_avg_sq"]
            mu, ahead = momentum_at(step), momentum_at(step + 1)
            with m.apart():
                product = m.state["mu_product"]
                product *= mu
                if not (group["capturable"] or group["differentiable"]):
                    product = value_of(product)
            average.lerp_(g, 1 - beta1)
            square.mul_(beta2).addcmul_(g, g, value=1 - beta2)
            denominator = square.div(1 - beta2**step).sqrt().add(group["eps"])
            add_quotient(m.p, g, denominator, -lr * (1.0 - mu) / (1.0 - product))
            add_quotient(m.p, average, denominator, -lr * ahead / (1.0 - product * ahead))

        return update
