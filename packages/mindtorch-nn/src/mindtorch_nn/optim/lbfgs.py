"""L-BFGS, a quasi-Newton method in little memory (Liu and Nocedal, 1989)."""

from __future__ import annotations

import functools
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor

from .line_search import Point, strong_wolfe
from .line_search import _cubic_interpolate as _cubic_interpolate  # libraries take them from here
from .line_search import _strong_wolfe as _strong_wolfe
from .optimizer import Closure, Optimizer, ParamsT
from .stepping import check, check_lr, no_dimensions, value_of

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """Minimises a function that can be computed again, with curvature from its last gradients.

    All parameters are one group on one device, and real or complex numbers.

    Args:
        params: what to optimize.
        lr: learning rate.
        max_iter: iterations of a step at most.
        max_eval: evaluations of a step at most; None for 1.25 times the iterations.
        tolerance_grad: largest element of a gradient that counts as 0.
        tolerance_change: change of function or parameters that counts as none.
        history_size: how many gradients are remembered.
        line_search_fn: ``strong_wolfe``, or None for steps of the learning rate's size.

    Raises:
        ValueError: for a negative learning rate, or several groups.

    Example:
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.LBFGS([w])
        >>> def closure():
        ...     optimizer.zero_grad()
        ...     loss = (w * w).sum()
        ...     loss.backward()
        ...     return loss
        >>> loss = optimizer.step(closure)
        >>> bool(w.abs() < 1e-3)
        True
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        check(
            len(self.param_groups) == 1,
            "LBFGS doesn't support per-parameter options (parameter groups)",
        )

    @property
    def _params(self) -> list[Any]:
        found: list[Any] = self.param_groups[0]["params"]
        return found

    # ---- all parameters as one vector ----------------------------------------------------------

    def _gradient(self) -> Tensor:
        parts = []
        for p in self._params:
            g = torch.zeros_like(p) if p.grad is None else p.grad
            parts.append((torch.view_as_real(g) if g.is_complex() else g).reshape(-1))
        return torch.cat(parts, 0)

    def _move(self, t: Any, direction: Tensor) -> None:
        first = 0
        for p in self._params:
            real = torch.view_as_real(p) if p.is_complex() else p
            last = first + real.numel()
            real.add_(direction[first:last].view_as(real), alpha=value_of(t))
            first = last

    def _along(self, closure: Closure, start: list[Tensor], d: Tensor, t: Any) -> tuple[float, Any]:
        """Loss and gradient at a distance along a direction; the parameters are put back."""
        try:
            self._move(t, d)
            loss = float(closure())
            return loss, self._gradient()
        finally:
            for p, before in zip(self._params, start, strict=True):
                p.copy_(before)

    # ---- the step ------------------------------------------------------------------------------

    @torch.no_grad()
    def step(self, closure: Closure) -> Any:  # type: ignore[override]  # it calls it: no default, as PyTorch's
        """Go on until the function or the parameters hardly change.

        Args:
            closure: computes loss and gradients again and returns the loss.

        Returns:
            The loss before the step.

        Raises:
            RuntimeError: for an unknown line search.
        """
        group = self.param_groups[0]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        closure = torch.enable_grad()(closure)
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        state["func_evals"] += 1
        gradient = self._gradient()
        if gradient.abs().max() <= group["tolerance_grad"]:
            return first
        self._iterate(closure, group, state, float(first), gradient)
        return first

    def _iterate(
        self,
        closure: Closure,
        group: dict[str, Any],
        state: dict[str, Any],
        loss: float,
        gradient: Any,
    ) -> None:
        lr, evaluations = no_dimensions(group["lr"]), 1
        previous = state.get("prev_flat_grad")
        before = state.get("prev_loss")
        d, t = state.get("d"), state.get("t")
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            d = _direction(state, gradient, previous, d, t, group["history_size"])
            if previous is None:
                previous = gradient.clone(memory_format=torch.contiguous_format)
            else:
                previous.copy_(gradient)
            before = loss
            t = min(1.0, 1.0 / gradient.abs().sum()) * lr if state["n_iter"] == 1 else lr
            slope = gradient.dot(d)
            if slope > -group["tolerance_change"]:
                break
            done, computed = False, 0
            if group["line_search_fn"] is not None:
                start = [p.clone(memory_format=torch.contiguous_format) for p in self._params]
                found, computed = strong_wolfe(
                    functools.partial(self._along, closure, start, d),
                    t,
                    d,
                    Point(0, loss, gradient, slope),
                    most=group["max_eval"] - evaluations,
                )
                loss, gradient, t = found.loss, found.gradient, found.t
                self._move(t, d)
                done = bool(gradient.abs().max() <= group["tolerance_grad"])
            else:
                self._move(t, d)
                if n != group["max_iter"]:
                    loss, computed = float(closure()), 1
                    gradient = self._gradient()
                    done = bool(gradient.abs().max() <= group["tolerance_grad"])
            evaluations += computed
            state["func_evals"] += computed
            change = group["tolerance_change"]
            if (
                evaluations >= group["max_eval"]
                or done
                or d.mul(t).abs().max() <= change
                or abs(loss - before) < change
            ):
                break
        state |= {"d": d, "t": t, "prev_flat_grad": previous, "prev_loss": before}


def _direction(
    state: dict[str, Any], gradient: Tensor, previous: Any, d: Any, t: Any, size: int
) -> Tensor:
    """The direction of the next iteration: the gradient through the inverse of an estimated Hessian."""
    if state["n_iter"] == 1:
        state |= {"old_dirs": [], "old_stps": [], "ro": [], "H_diag": 1}
        return gradient.neg()
    changes, steps, weights = state["old_dirs"], state["old_stps"], state["ro"]
    change, step = gradient.sub(previous), d.mul(t)
    curvature = change.dot(step)
    if curvature > 1e-10:
        if len(changes) == size:
            for history in (changes, steps, weights):
                history.pop(0)
        changes.append(change)
        steps.append(step)
        weights.append(1.0 / curvature)
        state["H_diag"] = curvature / change.dot(change)
    shares = state.setdefault("al", [None] * size)
    q = gradient.neg()
    for i in range(len(changes) - 1, -1, -1):
        shares[i] = steps[i].dot(q) * weights[i]
        q.add_(changes[i], alpha=value_of(-shares[i]))
    r = torch.mul(q, state["H_diag"])
    for i, (change, step) in enumerate(zip(changes, steps, strict=True)):
        r.add_(step, alpha=value_of(shares[i] - change.dot(r) * weights[i]))
    return r
