"""What losses have in common."""

from __future__ import annotations

from mindtorch_core import Tensor
from mindtorch_core.utils._own_frames import warn_user

from .module import Module

__all__ = ["_Loss", "_WeightedLoss"]


def _reduction(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction, also from the two arguments that said it of old."""
    if size_average is None and reduce is None:
        return reduction
    found = "mean" if size_average is None or size_average else "sum"
    found = found if reduce is None or reduce else "none"
    warn_user(
        f"size_average and reduce args will be deprecated, please use reduction='{found}' instead."
    )
    return found


class _Loss(Module):
    """A loss of each element, and how it is reduced: "mean", "sum" or "none"."""

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        self.reduction = _reduction(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    """A loss with a weight for each class."""

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
