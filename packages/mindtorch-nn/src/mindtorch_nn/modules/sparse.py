"""Embeddings: rows of a table by their number."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .. import init
from ..parameter import Parameter
from .module import Module
from .utils import unusual

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """What both have."""

    weight: Tensor
    _padding: ClassVar = "Padding_idx"  # how its error begins

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None,
        weight: Tensor | None,
        freeze: bool,
        device: Any,
        dtype: Any,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError(f"{self._padding} must be within num_embeddings")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        shape = (num_embeddings, embedding_dim)
        if weight is None:
            empty = torch.empty(shape, device=device, dtype=dtype)
            self.weight = Parameter(empty, requires_grad=not freeze)
            self.reset_parameters()
        elif tuple(weight.shape) != shape:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        else:
            self.weight = Parameter(weight, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Draw new rows, normal; that of padding is zero."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with torch.no_grad():
                self.weight[self.padding_idx].fill_(0)


def _check_table(embeddings: Tensor) -> tuple[int, int]:
    if embeddings.dim() != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
    rows, columns = embeddings.shape
    return rows, columns


class Embedding(_Table):
    """Rows of a table that is learnt.

    Args:
        num_embeddings: rows.
        embedding_dim: features of each.
        padding_idx: a row that starts as zero and gets no gradient.
        max_norm: rows that are looked up and longer are shortened in place.
        norm_type: of the norm that says how long they are.
        scale_grad_by_freq: divide gradients by how often a row is in the batch.
        sparse: whether gradients are sparse.
        device: of the table.
        dtype: of the table.

    Example:
        >>> table = torch.nn.Embedding(10, 3)
        >>> table(torch.tensor([[1, 2], [3, 1]])).shape
        torch.Size([2, 2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            num_embeddings, embedding_dim, padding_idx, _weight, _freeze, device, dtype
        )
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse

    def forward(self, input: Tensor) -> Tensor:
        """Numbers of any shape (*) to (*, embedding_dim)."""
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        """Sizes, and what is not as by default."""
        return f"{self.num_embeddings}, {self.embedding_dim}" + unusual(
            self,
            padding_idx=None,
            max_norm=None,
            norm_type=2,
            scale_grad_by_freq=False,
            sparse=False,
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """An embedding of a table that is there, by default one that is not learnt further."""
        rows, columns = _check_table(embeddings)
        return cls(
            rows,
            columns,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
            _weight=embeddings,
            _freeze=freeze,
        )


class EmbeddingBag(_Table):
    """Sums, means or maxima of bags of rows.

    Args:
        num_embeddings: rows.
        embedding_dim: features of each.
        max_norm: rows that are looked up and longer are shortened in place.
        norm_type: of the norm that says how long they are.
        scale_grad_by_freq: divide gradients by how often a row is in the batch.
        mode: "sum", "mean" or "max".
        sparse: whether gradients are sparse.
        include_last_offset: whether offsets end with the end of the last bag.
        padding_idx: a row that is left out.
        device: of the table.
        dtype: of the table.

    Raises:
        ValueError: for another mode, or inputs and offsets that do not fit together.

    Example:
        >>> layer = torch.nn.EmbeddingBag(10, 3, mode="sum")
        >>> bags = torch.tensor([[1, 2], [4, 5]])
        >>> layer(bags).shape
        torch.Size([2, 3])
    """

    _padding = "padding_idx"

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, padding_idx, _weight, False, device, dtype)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        """Numbers (bags, n), or (n,) and where bags begin, to (bags, embedding_dim)."""
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        """Sizes, and what is not as by default."""
        rare = unusual(self, max_norm=None, norm_type=2, scale_grad_by_freq=False)
        text = f"{self.num_embeddings}, {self.embedding_dim}{rare}, mode={self.mode!r}"
        return text + unusual(self, padding_idx=None)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """Bags of a table that is there, by default one that is not learnt further."""
        rows, columns = _check_table(embeddings)
        made = cls(
            rows,
            columns,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            _weight=embeddings,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        made.weight.requires_grad = not freeze
        return made
