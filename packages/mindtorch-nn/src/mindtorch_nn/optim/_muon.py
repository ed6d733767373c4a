"""Muon: momentum whose matrix is made orthogonal (Jordan, 2024)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Final

import mindtorch_core as torch
from mindtorch_core import Tensor

from .optimizer import ParamsT
from .stepping import Member, Stepping, check, check_lr, value_of

__all__ = ["Muon"]

# Of the polynomial whose repetition brings singular values near 1 in few steps.
_COEFFICIENTS: Final = (3.4445, -4.7750, 2.0315)


class Muon(Stepping):
    """Steps along the orthogonal matrix nearest to the momentum, for parameters with two dimensions.

    Args:
        params: what to optimize.
        lr: learning rate.
        weight_decay: share of the parameters, times ``lr``, that goes at each step.
        momentum: what remains of the average of gradients at each step.
        nesterov: whether the gradient is taken ahead of the momentum.
        ns_coefficients: of the polynomial that is applied to the momentum.
        eps: smallest norm that is divided by.
        ns_steps: how often the polynomial is applied.
        adjust_lr_fn: how the learning rate depends on the shape: ``original`` (the default) or
            ``match_rms_adamw``.

    Raises:
        ValueError: for options out of their range, and for parameters of other ranks.
    """

    _since_then: ClassVar[Mapping[str, Any]] = {}

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = _COEFFICIENTS,
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_lr(lr, "Learning rate should be >= 0 but is: ")
        check(momentum >= 0.0, f"momentum should be >= 0 but is: {momentum}")
        check(weight_decay >= 0.0, f"weight decay should be >= 0 but is: {weight_decay}")
        check(
            adjust_lr_fn in (None, "original", "match_rms_adamw"),
            f"Adjust learning rate function {adjust_lr_fn} is not supported",
        )
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                check(
                    p.ndim == 2,
                    "Muon only supports 2D parameters whereas we found a parameter with size: "
                    f"{p.size()}",
                )

    def _check(self, group: dict[str, Any], p: Any, g: Any) -> None:
        if p.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        super()._check(group, p, g)
        check(
            group["ns_steps"] < 100,
            "Number of steps must be less than 100 for computational efficiency",
        )
        check(
            len(group["ns_coefficients"]) == 3, "Coefficients must be a tuple of exactly 3 values"
        )

    def _make_state(self, group: dict[str, Any], p: Any) -> dict[str, Any]:
        return {"momentum_buffer": torch.zeros_like(p.grad, memory_format=torch.preserve_format)}

    def _update(self, group: dict[str, Any], members: list[Member]) -> None:
        lr, momentum = value_of(group["lr"]), group["momentum"]
        for m in members:
            buffer = m.state["momentum_buffer"]
            buffer.lerp_(m.g, 1 - momentum)
            change = m.g.lerp(buffer, momentum) if group["nesterov"] else buffer
            change = _orthogonal(change, group)
            m.p.mul_(1 - lr * group["weight_decay"])
            m.p.add_(change, alpha=-lr * _factor(group["adjust_lr_fn"], m.p))


def _factor(kind: str | None, p: Tensor) -> float:
    """How much a parameter's shape changes the learning rate."""
    rows, columns = p.shape
    if kind == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / columns))


def _orthogonal(g: Tensor, group: dict[str, Any]) -> Tensor:
    """A matrix with its singular values near 1, in bfloat16 (Newton and Schulz's iteration)."""
    a, b, c = group["ns_coefficients"]
    tall = g.size(0) > g.size(1)
    x = g.bfloat16()
    x = x.T if tall else x
    x = x / x.norm().clamp(min=group["eps"])
    for _ in range(group["ns_steps"]):
        gram = x @ x.T
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x
