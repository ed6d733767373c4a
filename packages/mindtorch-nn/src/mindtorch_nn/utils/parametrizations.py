"""Weights that are orthogonal, or of a given norm."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any, TypeVar

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

M = TypeVar("M", bound=Module)
TRANSPOSED = ConvTranspose1d, ConvTranspose2d, ConvTranspose3d


class _OrthMaps(Enum):
    """From matrices to orthogonal ones."""

    matrix_exp = auto()
    cayley = auto()
    householder = auto()


def _eye(n: int, like: Tensor) -> Tensor:
    return torch.eye(n, dtype=like.dtype, device=like.device)


def _is_orthogonal(q: Tensor) -> bool:
    tolerance = 10.0 * q.size(-2) * torch.finfo(q.dtype).eps
    return bool(torch.allclose(q.mH @ q, _eye(q.size(-1), q), atol=tolerance))


def _make_orthogonal(a: Tensor) -> Tensor:
    """The orthogonal factor that is a continuous function of the matrix."""
    x, tau = torch.geqrf(a)
    q = torch.linalg.householder_product(x, tau)
    return q * x.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    base: Any

    def __init__(
        self, weight: Tensor, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True
    ) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map is _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:  # matrices are seen from a base, at which the map is the identity
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        """(*, n, k) to orthogonal matrices of the same shape."""
        wide = X.size(-2) < X.size(-1)
        x = X.mT if wide else X
        n, k = x.size(-2), x.size(-1)
        if self.orthogonal_map is _OrthMaps.householder:
            a = x.tril(diagonal=-1)
            tau = 2.0 / (1.0 + (a * a).sum(dim=-2))
            q = torch.linalg.householder_product(a, tau)
            q = q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            x = x.tril()
            if n != k:
                x = torch.cat([x, x.new_zeros((*x.shape[:-2], n, n - k))], dim=-1)
            skew = x - x.mH
            if self.orthogonal_map is _OrthMaps.matrix_exp:
                q = torch.matrix_exp(skew)
            else:
                q = torch.linalg.solve(_eye(n, x) - 0.5 * skew, _eye(n, x) + 0.5 * skew)
            if n != k:
                q = q[..., :k]
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def right_inverse(self, Q: Tensor) -> Tensor:
        """What gives an orthogonal matrix; others are made orthogonal first.

        Raises:
            ValueError: for another shape.
            NotImplementedError: if there is no base to move.
        """
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape "
                f"{Q.shape}."
            )
        with torch.no_grad():
            wide = Q.size(-2) < Q.size(-1)
            q = Q.mT if wide else Q
            if not hasattr(self, "base"):
                return self._reflections(q).mT if wide else self._reflections(q)
            n, k = q.size(-2), q.size(-1)
            if n != k:
                more = torch.randn(*q.shape[:-2], n, n - k, dtype=q.dtype, device=q.device)
                self.base = _make_orthogonal(torch.cat([q, more], dim=-1))
            else:
                self.base = q.clone() if _is_orthogonal(q) else _make_orthogonal(q)
            negated = torch.zeros_like(Q)
            negated.diagonal(dim1=-2, dim2=-1).fill_(-1.0)  # the map gives the identity for it
            return negated

    def _reflections(self, q: Tensor) -> Tensor:
        """Householder's vectors below the diagonal, signs on it."""
        if self.orthogonal_map is not _OrthMaps.householder:
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations "
                "when use_trivialization=False."
            )
        a, tau = torch.geqrf(q)
        signs = a.diagonal(dim1=-2, dim2=-1).sign()
        a.diagonal(dim1=-2, dim2=-1).copy_(torch.where(tau == 0.0, -signs, signs))
        return a


def orthogonal(
    module: M,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> M:
    """Keep a matrix, or each of a batch, orthogonal (Lezcano-Casado, 2019).

    Args:
        module: whose parameter it is.
        name: its name.
        orthogonal_map: "matrix_exp", "cayley" or "householder".
        use_trivialization: start from the orthogonal matrix that it is, which takes memory for another.

    Raises:
        ValueError: if there is no such matrix or map.
    """
    weight: Any = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    found = getattr(_OrthMaps, orthogonal_map, None)
    if found is None:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: '
            f"{orthogonal_map}"
        )
    made = _Orthogonal(weight, found, use_trivialization=use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        """A direction, scaled to norms."""
        return torch._weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Norms and direction."""
        return torch.norm_except_dim(weight, 2, self.dim), weight


class _Renamed:
    """Loads what the older `weight_norm` saved; an object, so that modules can be copied."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__name__ = type(self).__name__

    def __call__(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        old = [f"{prefix}{self.name}_{end}" for end in "gv"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                new = f"{prefix}parametrizations.{self.name}.original{i}"
                state_dict[new] = state_dict.pop(key)


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Divide a weight into norms, ``original0``, and directions, ``original1``.

    Args:
        module: whose parameter it is.
        name: its name.
        dim: the dimension along which there are several norms; None for one of all.

    Example:
        >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 3))
        >>> [name for name, _ in layer.named_parameters()]
        ['bias', 'parametrizations.weight.original0', 'parametrizations.weight.original1']
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    module._register_load_state_dict_pre_hook(_Renamed(name))
    return module


class _SpectralNorm(Module):
    _u: Tensor
    _v: Tensor

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        rank = weight.ndim
        if not -rank <= dim < rank:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{rank}, {rank - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations="
                f"{n_power_iterations}"
            )
        self.dim = dim % rank
        self.eps = eps
        if rank > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._matrix(weight)
            u, v = (matrix.new_empty(size).normal_(0, 1) for size in matrix.shape)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    def _power_method(self, matrix: Tensor, times: int) -> None:
        with torch.no_grad():
            for _ in range(times):
                self._u.copy_(F.normalize(torch.mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(torch.mv(matrix.H, self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        """The weight divided by its largest singular value."""
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # The buffers may change before backward.
        u, v = self._u.clone(), self._v.clone()
        return weight / torch.vdot(u, torch.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value itself."""
        return value


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Divide a weight by its largest singular value (Miyato et al., 2018).

    Args:
        module: whose parameter it is.
        name: its name.
        n_power_iterations: steps of the power method at each call in training.
        eps: what lengths are at least.
        dim: the dimension of outputs; by default that of the module's class.

    Raises:
        ValueError: if there is no such parameter.

    Example:
        >>> layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(2, 2))
        >>> layer.weight.shape
        torch.Size([2, 2])
    """
    weight: Any = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if isinstance(module, TRANSPOSED) else 0
    made = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return register_parametrization(module, name, made)
