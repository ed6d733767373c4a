"""Averaged stochastic gradient descent (Polyak and Juditsky, 1992)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import mindtorch_core as torch
from mindtorch_core import Tensor

from .optimizer import ParamsT
from .stepping import (
    Member,
    Stepping,
    check,
    check_lr,
    decayed,
    new_number,
    no_dimensions,
    scalar_dtype,
    value_of,
    zeros,
)

__all__ = ["ASGD"]


class ASGD(Stepping):
    """Gradient descent that keeps the average of the parameters in its state, as ``ax``.

    Args:
        params: what to optimize.
        lr: first learning rate.
        lambd: how fast parameters and learning rate fall.
        alpha: power by which the learning rate falls.
        t0: the step after which the average begins.
        weight_decay: factor of the parameters that is added to their gradients.
        foreach: accepted; without effect.
        maximize: whether the loss is maximised.
        differentiable: whether the step is recorded.
        capturable: whether to compute with tensors on the parameters' device, which is not the CPU.

    Raises:
        ValueError: for options out of their range.

    Example:
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.ASGD([w], lr=0.5)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> bool(w < 1)
        True
    """

    _numbers: ClassVar[tuple[str, ...]] = ("step", "eta", "mu")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check(weight_decay >= 0.0, f"Invalid weight_decay value: {weight_decay}")
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _make_state(self, group: dict[str, Any], p: Any) -> dict[str, Any]:
        def number(value: float) -> Tensor:
            return new_number(value, scalar_dtype(), p.device)

        return {
            "step": number(0.0),
            "eta": number(float(value_of(group["lr"]))),
            "mu": number(1.0),
            "ax": zeros(p),
        }

    def _looked_at(self, group: dict[str, Any], members: list[Member]) -> Iterator[Tensor]:
        yield from super()._looked_at(group, members)
        if isinstance(group["lr"], Tensor):
            yield group["lr"]

    def _one(self, group: dict[str, Any]) -> Callable[[Member, Any], None]:
        lambd, alpha, t0 = group["lambd"], group["alpha"], group["t0"]
        lr, capturable = no_dimensions(group["lr"]), group["capturable"]

        def update(m: Member, step: Any) -> None:
            g = decayed(m, group)
            eta, mu, average = m.state["eta"], m.state["mu"], m.state["ax"]
            with m.apart():
                rate = eta.clone() if capturable else value_of(eta)
                weight = mu if capturable else value_of(mu)
            m.p.mul_(1 - lambd * rate)
            m.p.sub_(g * rate)
            if capturable or weight != 1:
                average.add_(m.p.sub(average).mul_(weight))
            else:
                average.copy_(m.p)
            with m.apart():
                fallen = lr / ((1 + lambd * lr * step) ** alpha)
                share = 1 / (torch.clamp(step - t0, min=1) if capturable else max(1, step - t0))
                for kept, value in ((eta, fallen), (mu, share)):
                    if isinstance(value, Tensor):
                        kept.copy_(value)
                    else:
                        kept.fill_(value)

        return update
