"""Transforms of vectors and matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mindtorch_core as torch
from mindtorch_core.nn import functional as F

from . import constraints
from .transforms_base import Transform
from .transforms_elementwise import clipped_sigmoid
from .utils import sum_rightmost, tril_matrix_to_vec, vec_to_tril_matrix

__all__ = [
    "CatTransform",
    "CorrCholeskyTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "SoftmaxTransform",
    "StackTransform",
    "StickBreakingTransform",
]


def _at_least(shape: Any, dims: int) -> None:
    if len(shape) < dims:
        raise ValueError("Too few dimensions on input")


class SoftmaxTransform(Transform):
    """Shares from logarithms of weights; the inverse is one of many."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    _plain = True

    def _call(self, x: Any) -> Any:
        return F.softmax(x, -1)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        _at_least(shape, 1)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        _at_least(shape, 1)
        return shape


class StickBreakingTransform(Transform):
    """Shares that are broken off a stick one after the other."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True
    _plain = True

    @staticmethod
    def _offset(n: int, like: Any) -> Any:
        """Logarithms of the numbers of shares that are left."""
        return (n + 1 - like.new_ones(n).cumsum(-1)).log()

    def _call(self, x: Any) -> Any:
        z = clipped_sigmoid(x - self._offset(x.shape[-1], x))
        rest = (1 - z).cumprod(-1)
        return F.pad(z, [0, 1], value=1) * F.pad(rest, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        shares = y[..., :-1]
        left = torch.clamp(1 - shares.cumsum(-1), min=torch.finfo(y.dtype).tiny)
        return shares.log() - left.log() + self._offset(shares.shape[-1], y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Logarithm of how much volumes grow."""
        x = x - self._offset(x.shape[-1], x)
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        _at_least(shape, 1)
        return torch.Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Any:
        _at_least(shape, 1)
        return torch.Size((*shape[:-1], shape[-1] - 1))


class CorrCholeskyTransform(Transform):
    """The factor of a correlation matrix from any numbers, row by row."""

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        eps = torch.finfo(x.dtype).eps
        r = vec_to_tril_matrix(torch.tanh(x).clamp(min=-1 + eps, max=1 - eps), diag=-1)
        rest = (1 - r**2).sqrt().cumprod(-1)
        one = torch.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return (r + one) * F.pad(rest[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        left = F.pad((1 - torch.cumsum(y * y, dim=-1))[..., :-1], [1, 0], value=1)
        t = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        """Logarithm of how much volumes grow."""
        left = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        slopes = -2 * (x + F.softplus(-2 * x) - math.log(2.0)).sum(dim=-1)
        return 0.5 * left.log().sum(-1) + slopes

    def forward_shape(self, shape: Any) -> Any:
        _at_least(shape, 1)
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return torch.Size((*shape[:-1], n, n))

    def inverse_shape(self, shape: Any) -> Any:
        _at_least(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return torch.Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


class LowerCholeskyTransform(Transform):
    """A lower triangular matrix with a positive diagonal from any matrix."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky
    _plain = True

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """A positive definite matrix from any matrix."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite
    _plain = True

    def _call(self, x: Any) -> Any:
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(torch.linalg.cholesky(y))


class _OfParts(Transform):
    """Transforms of the parts of a value along a dimension."""

    def __init__(self, tseq: Sequence[Any], dim: int, cache_size: int) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def bijective(self) -> bool:
        """Whether all are."""
        return all(t.bijective for t in self.transforms)

    def _split(self, x: Any) -> list[Any]:
        raise NotImplementedError

    def _join(self, parts: list[Any]) -> Any:
        raise NotImplementedError

    def _parts(self, x: Any, size: int) -> list[Any]:
        """The parts of a value whose size along the dimension is checked."""
        if not -x.dim() <= self.dim < x.dim():
            raise AssertionError(
                f"dim {self.dim} out of range for tensor with {x.dim()} dimensions"
            )
        if x.size(self.dim) != size:
            raise AssertionError(
                f"x.size({self.dim}) = {x.size(self.dim)} must equal length {size}"
            )
        return self._split(x)

    _size: int

    def _call(self, x: Any) -> Any:
        parts = zip(self.transforms, self._parts(x, self._size), strict=True)
        return self._join([t(part) for t, part in parts])

    def _inverse(self, y: Any) -> Any:
        parts = zip(self.transforms, self._parts(y, self._size), strict=True)
        return self._join([t.inv(part) for t, part in parts])

    def _slopes(self, x: Any, y: Any) -> list[Any]:
        xs, ys = self._parts(x, self._size), self._parts(y, self._size)
        triples = zip(self.transforms, xs, ys, strict=True)
        return [t.log_abs_det_jacobian(a, b) for t, a, b in triples]


class CatTransform(_OfParts):
    """Transforms of consecutive parts of a value.

    Args:
        tseq: the transforms.
        dim: along which dimension.
        lengths: of the parts; 1 each by default.
        cache_size: how many pairs are remembered, 0 or 1.
    """

    _arguments = ("transforms", "dim", "lengths")

    def __init__(
        self, tseq: Sequence[Any], dim: int = 0, lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})"
            )
        self._size = self.length

    @property
    def event_dim(self) -> int:
        """The largest of theirs."""
        return int(max(t.event_dim for t in self.transforms))

    @property
    def length(self) -> int:
        """Size of all parts together."""
        return sum(self.lengths)

    def _split(self, x: Any) -> list[Any]:
        return list(torch.split(x, self.lengths, self.dim))

    def _join(self, parts: list[Any]) -> Any:
        return torch.cat(parts, dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Those of the parts, or their sum where the dimension belongs to a value."""
        found = [
            sum_rightmost(slope, self.event_dim - t.event_dim)
            for t, slope in zip(self.transforms, self._slopes(x, y), strict=True)
        ]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        if dim < 0:
            return torch.cat(found, dim=dim)
        total = found[0]
        for slope in found[1:]:
            total = total + slope
        return total

    @constraints.dependent_property
    def domain(self) -> Any:
        """Theirs."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """Theirs."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_OfParts):
    """One transform for each index of a dimension.

    Args:
        tseq: the transforms.
        dim: the dimension.
        cache_size: how many pairs are remembered, 0 or 1.
    """

    _arguments = ("transforms", "dim")

    def __init__(self, tseq: Sequence[Any], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self._size = len(self.transforms)

    def _split(self, x: Any) -> list[Any]:
        return list(x.unbind(self.dim))

    def _join(self, parts: list[Any]) -> Any:
        return torch.stack(parts, dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Those of the parts."""
        return self._join(self._slopes(x, y))

    @constraints.dependent_property
    def domain(self) -> Any:
        """Theirs."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """Theirs."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
