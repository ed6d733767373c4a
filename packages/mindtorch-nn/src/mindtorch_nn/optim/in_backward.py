"""Optimizers that step while backward goes on, a parameter each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["_apply_optimizer_in_backward", "_get_in_backward_optimizers", "step"]


def _apply_optimizer_in_backward(
    optimizer_class: type,
    params: Iterable[Any],
    optimizer_kwargs: dict[str, Any],
    register_hook: bool = True,
) -> None:
    """Have each parameter make its step, and lose its gradient, as soon as backward has its gradient.

    Args:
        optimizer_class: made once for each parameter.
        params: parameters; one that is given again makes one more step by the other optimizer.
        optimizer_kwargs: for the class.
        register_hook: whether backward makes the steps; else whoever asks for the optimizers.
    """
    for p in params:
        if not hasattr(p, "_in_backward_optimizers"):
            p._in_backward_optimizers = []
            p._optimizer_classes, p._optimizer_kwargs = [], []
        p._in_backward_optimizers.append(optimizer_class([p], **optimizer_kwargs))
        p._optimizer_classes.append(optimizer_class)
        p._optimizer_kwargs.append(optimizer_kwargs)
        if register_hook and not hasattr(p, "_steps_in_backward"):
            p._steps_in_backward = p.register_post_accumulate_grad_hook(step)


def step(p: Any) -> None:
    """Have a parameter make its steps and lose its gradient."""
    for optimizer in p._in_backward_optimizers:
        optimizer.step()
    p.grad = None


def _get_in_backward_optimizers(module: Any) -> list[Any]:
    """The optimizers of a module's parameters that step in backward: to save their states, not to step."""
    return [
        optimizer
        for p in module.parameters()
        for optimizer in getattr(p, "_in_backward_optimizers", [])
    ]
