"""Adam with decoupled weight decay (Loshchilov and Hutter, 2017)."""

from __future__ import annotations

from typing import Any

from mindtorch_core import Tensor

from .adam import Adam
from .optimizer import ParamsT

__all__ = ["AdamW"]


class AdamW(Adam):
    """Adam whose parameters decay by themselves, not through their gradients.

    Args:
        params: what to optimize.
        lr: learning rate.
        betas: what remains of both averages at each step.
        eps: added to the denominator.
        weight_decay: share of the parameters, times ``lr``, that goes at each step.
        amsgrad: whether the denominator never becomes smaller.
        maximize, foreach, capturable, differentiable, fused: as of `Adam`.

    Raises:
        ValueError: for options out of their range.

    Example:
        >>> w = torch.ones(2, requires_grad=True)
        >>> optimizer = torch.optim.AdamW([w], lr=0.5, weight_decay=1.0)
        >>> (w * 2).sum().backward()
        >>> optimizer.step()
        >>> w.detach().round(decimals=4)
        tensor([0., 0.])
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
