"""Adam (Kingma and Ba, 2014), with AMSGrad (Reddi et al., 2018) and decoupled weight decay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import mindtorch_core as torch
from mindtorch_core import Tensor

from .fused import Fused
from .optimizer import ParamsT
from .stepping import Member, check, check_betas, check_lr, new_step, value_of, zeros

__all__ = ["Adam"]


class Adam(Fused):
    """Adam: steps along averages of gradients, in units of the root of averages of their squares.

    Args:
        params: what to optimize.
        lr: learning rate.
        betas: what remains of both averages at each step.
        eps: added to the denominator.
        weight_decay: factor of the parameters that is added to their gradients.
        amsgrad: whether the denominator never becomes smaller.
        foreach: accepted; all parameters are updated at once in any case.
        maximize: whether the loss is maximised.
        capturable: whether numbers of steps live on the parameters' device, which is not the CPU.
        differentiable: whether the step is recorded.
        fused: whether to insist on floating-point parameters.
        decoupled_weight_decay: whether parameters decay by themselves, as in `AdamW`.

    Raises:
        ValueError: for options out of their range.

    Example:
        >>> w = torch.ones(2, requires_grad=True)
        >>> optimizer = torch.optim.Adam([w], lr=0.5)
        >>> (w * 2).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.5000, 0.5000], requires_grad=True)
    """

    _since_then: ClassVar[Mapping[str, Any]] = {
        "amsgrad": False,
        "maximize": False,
        "foreach": None,
        "capturable": False,
        "differentiable": False,
        "decoupled_weight_decay": False,
        "fused": None,
    }
    _sparse: ClassVar[str] = (
        "Adam does not support sparse gradients, please consider SparseAdam instead"
    )

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        hosted = bool(foreach) and not capturable
        _check_tensor("lr", lr, "Tensor lr must be 1-element", hosted=hosted)
        check_lr(lr)
        check(eps >= 0.0, f"Invalid epsilon value: {eps}")
        check_betas(betas)
        check(weight_decay >= 0.0, f"Invalid weight_decay value: {weight_decay}")
        check(
            isinstance(betas[0], Tensor) == isinstance(betas[1], Tensor)
            and all(isinstance(beta, float | Tensor) for beta in betas),
            "betas must be either both floats or both Tensors",
        )
        for i, beta in enumerate(betas):
            name = f"betas[{i}]"
            _check_tensor(name, beta, f"Tensor {name} must be 1-element", hosted=hosted)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        self._check_flags(fused=fused, foreach=foreach, differentiable=differentiable)

    def _make_state(self, group: dict[str, Any], p: Any) -> dict[str, Any]:
        state = {"step": new_step(group, p), "exp_avg": zeros(p), "exp_avg_sq": zeros(p)}
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros(p)
        return state

    def _check(self, group: dict[str, Any], p: Any, g: Any) -> None:
        super()._check(group, p, g)
        if group["foreach"] and isinstance(group["lr"], Tensor) and not group["capturable"]:
            raise RuntimeError(
                "lr as a Tensor is not supported for capturable=False and foreach=True"
            )

    def _update(self, group: dict[str, Any], members: list[Member]) -> None:
        beta1, beta2 = map(value_of, group["betas"])
        self._run(
            group,
            members,
            torch._fused_adamw_ if group["decoupled_weight_decay"] else torch._fused_adam_,
            "exp_avg",
            "exp_avg_sq",
            "max_exp_avg_sq" if group["amsgrad"] else "",
            beta1=beta1,
            beta2=beta2,
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            amsgrad=group["amsgrad"],
        )


def _check_tensor(name: str, value: Any, message: str, *, hosted: bool) -> None:
    if isinstance(value, Tensor):
        check(
            not hosted,
            f"{name} as a Tensor is not supported for capturable=False and foreach=True",
        )
        check(value.numel() == 1, message)
