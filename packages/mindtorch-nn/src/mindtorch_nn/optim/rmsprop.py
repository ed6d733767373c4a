"""RMSprop (Hinton's lecture, 2012), with the centred form of Graves (2013)."""

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
    check_lr,
    decayed,
    lasting,
    new_step,
    no_dimensions,
    zeros,
)

__all__ = ["RMSprop"]


class RMSprop(Stepping):
    """Steps in units of the root of the average of squared gradients.

    Args:
        params: what to optimize.
        lr: learning rate.
        alpha: what remains of the average at each step.
        eps: added to the denominator.
        weight_decay: factor of the parameters that is added to their gradients.
        momentum: share of the last step that is added to the next one.
        centered: whether the squared average of gradients is taken off: their variance remains.
        capturable: whether numbers of steps live on the parameters' device, which is not the CPU.
        foreach: accepted; without effect.
        maximize: whether the loss is maximised.
        differentiable: whether the step is recorded.

    Raises:
        ValueError: for options out of their range.

    Example:
        >>> w = torch.ones(2, requires_grad=True)
        >>> optimizer = torch.optim.RMSprop([w], lr=0.05)
        >>> (w * 2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([0.5000, 0.5000])
    """

    _since_then: ClassVar[Mapping[str, Any]] = {
        **Stepping._since_then,
        "momentum": 0,
        "centered": False,
    }

    _counts = False

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check(eps >= 0.0, f"Invalid epsilon value: {eps}")
        check(momentum >= 0.0, f"Invalid momentum value: {momentum}")
        check(weight_decay >= 0.0, f"Invalid weight_decay value: {weight_decay}")
        check(alpha >= 0.0, f"Invalid alpha value: {alpha}")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _make_state(self, group: dict[str, Any], p: Any) -> dict[str, Any]:
        state = {"step": new_step(group, p), "square_avg": zeros(p)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros(p)
        if group["centered"]:
            state["grad_avg"] = zeros(p)
        return state

    def _one(self, group: dict[str, Any]) -> Callable[[Member, Any], None]:
        alpha, momentum, lr = group["alpha"], group["momentum"], no_dimensions(group["lr"])

        def update(m: Member, step: Any) -> None:
            g = decayed(m, group)
            square = m.state["square_avg"]
            square.mul_(alpha).addcmul_(g, g, value=1 - alpha)
            if group["centered"]:
                average = m.state["grad_avg"]
                average.lerp_(g, 1 - alpha)
                average = lasting(average)
                denominator = square.addcmul(average, average, value=-1).sqrt()
            else:
                denominator = square.sqrt()
            denominator = denominator.add(group["eps"])
            if momentum > 0:
                buffer = m.state["momentum_buffer"]
                buffer.mul_(momentum).addcdiv_(g, denominator)
                m.p.sub_(buffer * lr)
            else:
                add_quotient(m.p, g, denominator, -lr)

        return update
