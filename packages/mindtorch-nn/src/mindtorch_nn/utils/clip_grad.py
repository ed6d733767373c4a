"""Gradients made shorter."""

from __future__ import annotations

from collections.abc import Iterable
from types import GeneratorType

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.utils._own_frames import warn_user

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]

Tensors = Tensor | Iterable[Tensor]


def _listed(tensors: Tensors) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _grads(parameters: Tensors) -> list[Tensor]:
    return [p.grad for p in _listed(parameters) if p.grad is not None]


def get_total_norm(
    tensors: Tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all elements of all tensors, on the device of the first.

    Args:
        tensors: whose norm it is.
        norm_type: which norm; ``inf`` for the largest absolute value.
        error_if_nonfinite: refuse what is not finite.
        foreach: accepted for compatibility.

    Raises:
        RuntimeError: if the norm is not finite and that is refused.
    """
    found = _listed(tensors)
    if not found:
        return torch.tensor(0.0)
    norm_type = float(norm_type)
    with torch.no_grad():
        norms = [_on(torch.linalg.vector_norm(t, norm_type), found[0]) for t in found]
        total: Tensor = torch.linalg.vector_norm(torch.stack(norms), norm_type)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it "
            f"cannot be clipped. To disable this error and scale the gradients by the non-finite norm "
            f"anyway, set `error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale gradients in place so that a norm of ``total_norm`` becomes ``max_norm`` at most."""
    with torch.no_grad():
        scale = torch.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
        for grad in _grads(parameters):
            grad.mul_(_on(scale, grad))


def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients of parameters in place so that their norm is ``max_norm`` at most.

    Args:
        parameters: those with gradients count.
        max_norm: of all gradients together.
        norm_type: which norm.
        error_if_nonfinite: refuse a norm that is not finite.
        foreach: accepted for compatibility.

    Returns:
        The norm before.

    Raises:
        RuntimeError: if the norm is not finite and that is refused.

    Example:
        >>> w = torch.ones(2, requires_grad=True)
        >>> (w * torch.tensor([3.0, 4.0])).sum().backward()
        >>> torch.nn.utils.clip_grad_norm_([w], max_norm=1.0)
        tensor(5.)
        >>> w.grad
        tensor([0.6000, 0.8000])
    """
    found = _listed(parameters)
    if isinstance(parameters, GeneratorType) and not found:
        warn_user(
            "`parameters` is an empty generator, no gradient clipping will occur.",
        )
    total = get_total_norm(_grads(found), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(found, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """`clip_grad_norm_` under a name of old."""
    warn_user(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Keep all elements of gradients within ``[-clip_value, clip_value]``, in place.

    Args:
        parameters: whose gradients, a tensor or several.
        clip_value: the largest absolute value that stays.
        foreach: accepted; it makes no difference here.

    Example:
        >>> w = torch.tensor([1.0, 1.0], requires_grad=True)
        >>> (w * torch.tensor([5.0, 0.2])).sum().backward()
        >>> torch.nn.utils.clip_grad_value_([w], 1.0)
        >>> w.grad
        tensor([1.0000, 0.2000])
    """
    bound = float(clip_value)
    with torch.no_grad():
        for grad in _grads(parameters):
            grad.clamp_(min=-bound, max=bound)


def _on(t: Tensor, other: Tensor) -> Tensor:
    """A tensor on the device of another; a pipeline is asked for its value only where it moves."""
    return t if t.device == other.device else t.to(other.device)
