"""Small things that distributions share."""

from __future__ import annotations

import functools
import math
import numbers
import operator
from collections.abc import Callable
from typing import Any, Final

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

euler_constant: Final = 0.57721566490153286060


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors and numbers as tensors of one shape.

    Numbers take the dtype and the device of the first tensor.

    Raises:
        ValueError: if one is neither.
    """
    if not all(isinstance(v, Tensor | numbers.Number) for v in values):
        raise ValueError("Input arguments must all be instances of Number or torch.Tensor.")
    like = next((v for v in values if isinstance(v, Tensor)), None)
    options: dict[str, Any] = (
        {"dtype": torch.get_default_dtype()}
        if like is None
        else {"dtype": like.dtype, "device": like.device}
    )
    tensors = [v if isinstance(v, Tensor) else torch.tensor(v, **options) for v in values]
    return tuple(torch.broadcast_tensors(*tensors))


def standard_normal(shape: Any, like: Tensor) -> Tensor:
    """Standard normal numbers of a tensor's dtype, on its device."""
    return torch.randn(shape, dtype=like.dtype, device=like.device)


def uniform(shape: Any, like: Tensor) -> Tensor:
    """Uniform numbers from [0, 1) of a tensor's dtype, on its device."""
    return torch.rand(shape, dtype=like.dtype, device=like.device)


def open_uniform(shape: Any, like: Tensor) -> Tensor:
    """Uniform numbers from (-1, 1), without the ends."""
    info = torch.finfo(like.dtype)
    return torch.empty(shape, dtype=like.dtype, device=like.device).uniform_(info.eps - 1, 1)


def sum_rightmost(value: Any, dims: int) -> Any:
    """The sum over the last dimensions."""
    return value if dims == 0 else value.reshape((*value.shape[:-dims], -1)).sum(-1)


_sum_rightmost = sum_rightmost  # as PyTorch calls it


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    """Standard normal numbers of a dtype, on a device: what distributions of other packages draw."""
    return torch.randn(shape, dtype=dtype, device=device)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of logits: of one event each, or of the last dimension's."""
    return torch.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities that are neither 0 nor 1."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Logits of probabilities."""
    safe = clamp_probs(probs)
    return torch.log(safe) - torch.log1p(-safe) if is_binary else torch.log(safe)


def alias(path: str, doc: str) -> Any:
    """A property that is an attribute of the distribution, or of a part of it: ``base_dist.scale``."""
    return property(operator.attrgetter(path), doc=doc)


class lazy_property:
    """A property that is computed once, with gradients, and then kept."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def _below(n: int, diag: int, device: Any) -> Tensor:
    at = torch.arange(n, device=device)
    return at < at.view(-1, 1) + (diag + 1)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements of a matrix on and below a diagonal, row by row.

    Raises:
        ValueError: if there is no such diagonal.
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., _below(n, diag, mat.device)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The matrix that has given elements on and below a diagonal.

    Raises:
        ValueError: if their number is none of a triangle's.
    """
    width = 1 + 2 * diag
    n = (-width + math.sqrt(width**2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1))) / 2
    if abs(round(n) - n) > torch.finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as the lower "
            f"triangular part of a square D x D matrix."
        )
    size = round(n)
    mat = vec.new_zeros((*vec.shape[:-1], size, size))
    mat[..., _below(size, diag, vec.device)] = vec
    return mat
