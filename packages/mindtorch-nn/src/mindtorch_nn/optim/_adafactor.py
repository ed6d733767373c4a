"""Adafactor (Shazeer and Stern, 2018)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import mindtorch_core as torch
from mindtorch_core import Tensor

from .optimizer import ParamsT
from .stepping import Member, Stepping, check, check_lr, new_number, scalar_dtype, value_of

__all__ = ["Adafactor"]


class Adafactor(Stepping):
    """Adam in less memory: of the averages of a matrix only sums of rows and of columns are kept.

    Args:
        params: what to optimize.
        lr: largest learning rate.
        beta2_decay: power by which the weight of new gradients falls.
        eps: smallest square of a gradient (None for the dtype's precision), and smallest size of a
            parameter that steps are in proportion to.
        d: size above which an update is cut.
        weight_decay: share of the parameters, times ``lr``, that goes at each step.
        foreach: accepted; without effect.
        maximize: whether the loss is maximised.

    Raises:
        ValueError: for options out of their range.

    Example:
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.Adafactor([w], lr=0.5)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> bool(w < 1)
        True
    """

    _since_then: ClassVar[Mapping[str, Any]] = {"foreach": None}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_lr(lr, "Learning rate should be >= 0 but is: ")
        check(beta2_decay <= 0.0, f"beta2_decay should be <= 0 but is: {beta2_decay}")
        check(eps[0] is None or eps[0] >= 0.0, f"epsilon1 should be >= 0 but is: {eps[0]}")
        check(eps[1] >= 0.0, f"epsilon2 should be >= 0 but is: {eps[1]}")
        check(d >= 1.0, f"Clipping threshold d should be >= 1 but is: {d}")
        check(weight_decay >= 0.0, f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _check(self, group: dict[str, Any], p: Any, g: Any) -> None:
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        super()._check(group, p, g)

    def _make_state(self, group: dict[str, Any], p: Any) -> dict[str, Any]:
        state: dict[str, Any] = {"step": new_number(0.0, scalar_dtype(), None)}
        shape = list(p.grad.shape)
        if len(shape) > 1:
            state["row_var"] = p.grad.new_zeros([*shape[:-1], 1])
            state["col_var"] = p.grad.new_zeros([*shape[:-2], 1, shape[-1]])
        else:
            state["variance"] = torch.zeros_like(p.grad, memory_format=torch.preserve_format)
        return state

    def _one(self, group: dict[str, Any]) -> Callable[[Member, Any], None]:
        lr = value_of(group["lr"])
        decay = group["weight_decay"]

        def update(m: Member, step: float) -> None:
            p, g = m.p, m.g
            smallest, least = group["eps"]
            if smallest is None:
                smallest = torch.finfo(p.dtype).eps
            size = _number(p.norm(2)) / p.numel() ** 0.5
            rate = _larger(least, size) * min(lr, 1 / step**0.5)
            if decay != 0:
                p.mul_(1 - lr * decay)
            estimate = _squares(m.state, g, step ** group["beta2_decay"], smallest)
            change = estimate.clamp_(min=smallest * smallest).rsqrt_().mul_(g)
            length = _number(change.norm(2)) / (change.numel() ** 0.5 * group["d"])
            factor = -rate / _larger(1.0, length)
            if isinstance(factor, Tensor):
                p.add_(change.mul_(factor.to(p.dtype)))
            else:
                p.add_(change, alpha=factor)

        return update


def _number(norm: Tensor) -> Any:
    """A norm to compute with in double precision: as a tensor, which need not be waited for.

    As a number for dtypes of few bits, which it must not be rounded to.
    """
    return norm.double() if norm.dtype in (torch.float32, torch.float64) else norm.item()


def _larger(least: float, size: Any) -> Any:
    """As Python's ``max``, also of NaN, for a tensor as well."""
    return torch.where(size > least, size, least) if isinstance(size, Tensor) else max(least, size)


def _squares(state: dict[str, Any], g: Tensor, weight: float, smallest: float) -> Any:
    """Estimated squares of the gradient, from the averages that are kept, brought up to date."""
    if g.dim() < 2:
        state["variance"].lerp_(g * g, weight)
        return state["variance"].clone()
    rows, columns = state["row_var"], state["col_var"]
    for kept, dim in ((rows, -1), (columns, -2)):
        kept.lerp_(torch.norm(g, dim=dim, keepdim=True).square_().div_(g.size(dim)), weight)
    return (rows @ columns).div_(rows.mean(dim=-2, keepdim=True).clamp_(min=smallest))
