"""Adagrad (Duchi, Hazan and Singer, 2011)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import mindtorch_core as torch
from mindtorch_core import Tensor

from .fused import Fused
from .optimizer import ParamsT
from .stepping import Member, check, check_lr, new_step

__all__ = ["Adagrad"]


class Adagrad(Fused):
    """Steps in units of the root of the sum of all squared gradients.

    Args:
        params: what to optimize.
        lr: learning rate.
        lr_decay: how fast the learning rate falls.
        weight_decay: factor of the parameters that is added to their gradients.
        initial_accumulator_value: where the sums start.
        eps: added to the denominator.
        foreach: accepted; all parameters are updated at once in any case.
        maximize: whether the loss is maximised.
        differentiable: whether the step is recorded.
        fused: whether to insist on floating-point parameters.

    Raises:
        ValueError: for options out of their range.

    Example:
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.Adagrad([w], lr=0.5)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> bool(w < 1)
        True
    """

    _since_then: ClassVar[Mapping[str, Any]] = {
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "fused": None,
    }

    _sparse: ClassVar[str] = "taken"

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check(lr_decay >= 0.0, f"Invalid lr_decay value: {lr_decay}")
        check(weight_decay >= 0.0, f"Invalid weight_decay value: {weight_decay}")
        check(
            initial_accumulator_value >= 0.0,
            f"Invalid initial_accumulator_value value: {initial_accumulator_value}",
        )
        check(eps >= 0.0, f"Invalid epsilon value: {eps}")
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        self._check_flags(fused=fused, foreach=foreach, differentiable=differentiable)
        with torch.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    self.state[p] = self._make_state(group, p)

    def _make_state(self, group: dict[str, Any], p: Any) -> dict[str, Any]:
        start = group["initial_accumulator_value"]
        value = complex(start, start) if p.is_complex() else start
        total = torch.full_like(p, value, memory_format=torch.preserve_format)
        return {"step": new_step(group, p), "sum": total}

    def share_memory(self) -> None:
        """Put the state where other processes see it."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    def _update_sparse(self, group: dict[str, Any], m: Member) -> None:
        """A step of a parameter with a sparse gradient: where that has elements.

        Raises:
            RuntimeError: with weight decay, which is dense.
        """
        if group["weight_decay"]:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        m.own["step"] += 1
        g: Any = m.g.coalesce()
        at, values = tuple(g.indices().unbind(0)), g.values()
        m.state["sum"].index_put_(at, values * values, accumulate=True)
        rate = group["lr"] / (1 + (float(m.own["step"]) - 1) * group["lr_decay"])
        moved = values / (m.state["sum"][at].sqrt() + group["eps"])
        m.p.index_put_(
            at, moved * (rate if group["maximize"] and self._negates else -rate), accumulate=True
        )

    def _update(self, group: dict[str, Any], members: list[Member]) -> None:
        for m in members:
            if m.g.layout is not torch.strided:
                self._update_sparse(group, m)
        members = [m for m in members if m.g.layout is torch.strided]
        if not members:
            return
        self._run(
            group,
            members,
            torch._fused_adagrad_,
            "sum",
            lr_decay=group["lr_decay"],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
        )
