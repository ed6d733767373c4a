"""Adam for sparse gradients: only what has a gradient changes."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import mindtorch_core as torch
from mindtorch_core import Tensor

from .optimizer import ParamsT
from .stepping import Member, Stepping, check, check_betas, check_lr, zeros

__all__ = ["SparseAdam"]


class SparseAdam(Stepping):
    """Adam whose averages change only where a sparse gradient has elements.

    A step refuses dense gradients.

    Args:
        params: what to optimize.
        lr: learning rate.
        betas: what remains of both averages at each step.
        eps: added to the denominator.
        maximize: whether the loss is maximised.

    Raises:
        ValueError: for options out of their range, and for complex parameters.
    """

    _sparse: ClassVar[str] = "taken"

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_lr(lr)
        check(lr > 0.0, f"Invalid learning rate: {lr}")
        check(eps > 0.0, f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        found: dict[str, list[list[int]]] = {"sparse": [], "complex": []}
        for i, group in enumerate(self.param_groups):
            for j, p in enumerate(group["params"]):
                if p.layout is not torch.strided:
                    found["sparse"].append([i, j])
                if p.is_complex():
                    found["complex"].append([i, j])
        check(
            not found["sparse"],
            f"Sparse params at indices {found['sparse']}: SparseAdam requires dense parameter tensors",
        )
        check(
            not found["complex"],
            f"Complex params at indices {found['complex']}: SparseAdam does not support complex "
            f"parameters",
        )

    def _check(self, group: dict[str, Any], p: Any, g: Any) -> None:
        if g.layout is torch.strided:
            raise RuntimeError(
                "SparseAdam does not support dense gradients, please consider Adam instead"
            )

    def _make_state(self, group: dict[str, Any], p: Any) -> dict[str, Any]:
        return {"step": 0, "exp_avg": zeros(p), "exp_avg_sq": zeros(p)}

    def _update(self, group: dict[str, Any], members: list[Member]) -> None:
        beta1, beta2 = group["betas"]
        for m in members:
            m.own["step"] += 1
            g: Any = m.g.coalesce()
            if not g._nnz():
                continue
            at, values = tuple(g.indices().unbind(0)), g.values()
            averages = []
            for name, given, beta in (
                ("exp_avg", values, beta1), ("exp_avg_sq", values * values, beta2),
            ):  # fmt: skip
                old = m.state[name][at]
                change = (given - old) * (1 - beta)
                m.state[name].index_put_(at, change, accumulate=True)
                averages.append(old + change)
            step = m.own["step"]
            size = group["lr"] * math.sqrt(1 - beta2**step) / (1 - beta1**step)
            moved = averages[0] / (averages[1].sqrt() + group["eps"])
            m.p.index_put_(at, moved * -size, accumulate=True)
