"""Distances between vectors."""

from __future__ import annotations

from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """The p-norm of differences along the last dimension.

    Args:
        p: which norm.
        eps: added to differences.
        keepdim: whether the last dimension stays, with size 1.

    Example:
        >>> torch.nn.PairwiseDistance()(torch.tensor([[3.0, 4.0]]), torch.tensor([[0.0, 0.0]]))
        tensor([5.0000])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """(*, D) and (*, D) to (*,)."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along a dimension.

    Args:
        dim: the dimension that vectors lie along.
        eps: what norms count as at least.

    Example:
        >>> torch.nn.CosineSimilarity()(torch.tensor([[1.0, 1.0]]), torch.tensor([[1.0, 0.0]]))
        tensor([0.7071])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Two tensors to one without the dimension."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
