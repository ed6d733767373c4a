"""Softmax over many classes whose frequencies differ widely."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    """What the module gives: log-probabilities of the targets, and their mean, negated."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Softmax in two steps: rare classes share clusters, each smaller inside (Grave et al., 2017).

    Args:
        in_features: features of a sample.
        n_classes: classes, sorted from frequent to rare.
        cutoffs: the first classes of the clusters.
        div_value: by how much each cluster's projection is smaller than that before it.
        head_bias: whether the first step has a bias.
        device: of the parameters.
        dtype: of the parameters.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        bounds = list(cutoffs)
        if not bounds:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        rising = bounds == sorted(set(bounds)) and all(int(c) == c for c in bounds)
        if not rising or bounds[0] <= 0 or bounds[-1] > n_classes - 1:
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                "where each value is between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*bounds, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = bounds[0]
        self.n_clusters = len(bounds)
        self.head_size = self.shortlist_size + self.n_clusters
        where = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **where)
        self.tail = ModuleList()
        for i, (first, end) in enumerate(pairwise(self.cutoffs)):
            inner = int(in_features // div_value ** (i + 1))
            self.tail.append(
                Sequential(
                    Linear(in_features, inner, bias=False, **where),
                    Linear(inner, end - first, bias=False, **where),
                )
            )

    def reset_parameters(self) -> None:
        """Draw new values."""
        self.head.reset_parameters()
        for cluster in self.tail:
            for layer in cluster:
                layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """Log-probabilities of targets.

        Args:
            input_: (N, in_features) or (in_features,).
            target_: (N,) or ().

        Raises:
            RuntimeError: for other shapes, or targets that are no classes.
        """
        _check_shapes(input_, target_)
        batched = target_.dim() > 0
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        if not target.is_meta and bool(((target < 0) | (target >= self.n_classes)).any()):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        head = F.log_softmax(self.head(input), dim=1)
        column = target
        inside = input.new_zeros(target.size(0))
        for i, (first, end) in enumerate(pairwise(self.cutoffs)):
            mine = (target >= first) & (target < end)
            column = torch.where(mine, self.shortlist_size + i, column)
            rows = mine.nonzero().squeeze(1)
            if rows.numel():
                found = F.log_softmax(self.tail[i](input.index_select(0, rows)), dim=1)
                place = (target.index_select(0, rows) - first).unsqueeze(1)
                inside = inside.index_copy(0, rows, found.gather(1, place).squeeze(1))
        output = inside + head.gather(1, column.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        """Log-probabilities of all classes, from those of the first step."""
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            inside = F.log_softmax(cluster(input), dim=1)
            parts.append(inside + head[:, self.shortlist_size + i].unsqueeze(1))
        return torch.cat(parts, dim=1)

    def log_prob(self, input: Tensor) -> Tensor:
        """(N, in_features) to log-probabilities (N, n_classes)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """(N, in_features) to the likeliest classes (N,)."""
        head = self.head(input)
        found = torch.argmax(head, dim=1)
        open_ = found >= self.shortlist_size
        if open_.any():
            inner = self._get_full_log_prob(input[open_], head[open_])
            found[open_] = torch.argmax(inner, dim=1)
        return found


def _check_shapes(input: Tensor, target: Tensor) -> None:
    rank = target.dim()
    if rank > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if rank == 1 and input.size(0) != target.size(0):
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if input.dim() != rank + 1:
        raise RuntimeError(
            f"{rank}D target tensor expects {rank + 1}D input tensors, but found inputs with size "
            f"{input.size()}"
        )
