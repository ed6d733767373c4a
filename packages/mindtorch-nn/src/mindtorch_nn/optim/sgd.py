"""Stochastic gradient descent, with momentum (Sutskever et al., 2013)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import mindtorch_core as torch
from mindtorch_core import Tensor

from .fused import Fused
from .optimizer import ParamsT
from .stepping import Member, check, check_lr, zeros

__all__ = ["SGD"]


class SGD(Fused):
    """Stochastic gradient descent.

    Args:
        params: what to optimize.
        lr: learning rate.
        momentum: share of the last update that is added to the next one.
        dampening: share of the gradient that does not go into the momentum.
        weight_decay: factor of the parameters that is added to their gradients.
        nesterov: whether the gradient is taken ahead of the momentum.
        maximize: whether the loss is maximised.
        foreach: accepted; all parameters are updated at once in any case.
        differentiable: whether the step is recorded.
        fused: whether to insist on floating-point parameters.

    Raises:
        ValueError: for options out of their range.

    Example:
        >>> w = torch.ones(2, requires_grad=True)
        >>> optimizer = torch.optim.SGD([w], lr=0.5)
        >>> (w * 2).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0., 0.], requires_grad=True)
    """

    _since_then: ClassVar[Mapping[str, Any]] = {
        "nesterov": False,
        "maximize": False,
        "foreach": None,
        "differentiable": False,
        "fused": False,
    }
    _sparse: ClassVar[str] = "taken"
    _numbers: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check(momentum >= 0.0, f"Invalid momentum value: {momentum}")
        check(weight_decay >= 0.0, f"Invalid weight_decay value: {weight_decay}")
        check(
            not nesterov or (momentum > 0 and dampening == 0),
            "Nesterov momentum requires a momentum and zero dampening",
        )
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        self._check_flags(fused=fused, foreach=foreach, differentiable=differentiable)

    def _make_state(self, group: dict[str, Any], p: Any) -> dict[str, Any]:
        return {"momentum_buffer": None} if group["momentum"] else {}

    def _must_know(self) -> str | None:
        lacking = any(
            group["dampening"] and p.grad is not None and not self.state.get(p)
            for group in self.param_groups
            for p in group["params"]
        )
        why = super()._must_know()
        return "SGD does not dampen the first step that is made" if lacking else why

    def _update(self, group: dict[str, Any], members: list[Member]) -> None:
        momentum = group["momentum"]
        sparse = [m for m in members if m.g.layout is not torch.strided]
        if sparse:
            for m in sparse:
                _step_sparsely(group, m)
            members = [m for m in members if m.g.layout is torch.strided]
            if not members:
                return
        options = {
            name: group[name] for name in ("weight_decay", "momentum", "dampening", "nesterov")
        }
        first = [m for m in members if momentum and m.state.get("momentum_buffer") is None]
        rest = [m for m in members if m not in first] if first else members
        for m in first:
            buffer = zeros(m.p)
            complex_too = m.own is not m.state
            m.own["momentum_buffer"] = torch.view_as_complex(buffer) if complex_too else buffer
            m.state["momentum_buffer"] = buffer
        for found, is_first in ((first, True), (rest, False)):
            if found:
                self._run(
                    group, found, torch._fused_sgd_, "momentum_buffer" if momentum else "",
                    counted=False, is_first_step=is_first, **options,
                )  # fmt: skip


def _step_sparsely(group: dict[str, Any], m: Member) -> None:
    """A step by a sparse gradient; so is its momentum.

    Raises:
        RuntimeError: with weight decay, which is dense.
    """
    if group["weight_decay"]:
        raise RuntimeError("SGD takes sparse gradients without weight decay, which is dense")
    momentum, g = group["momentum"], -m.g if group["maximize"] else m.g
    if momentum:
        held: Any = m.state.get("momentum_buffer")
        held = g if held is None else (held * momentum).add(g, alpha=1 - group["dampening"])
        m.own["momentum_buffer"] = m.state["momentum_buffer"] = held = held.coalesce()
        g = g.add(held, alpha=momentum) if group["nesterov"] else held
    m.p.add_(g, alpha=-group["lr"])
