"""Which of many boxes are kept: the best, without those that overlap a better one."""

from __future__ import annotations

import mindtorch_core as torch
from mindtorch_core import Tensor

__all__ = ["nms"]


def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Indices of the boxes that are kept, best first.

    Args:
        dets: boxes as ``(x1, y1, x2, y2)``, N x 4.
        scores: of each box, N.
        iou_threshold: a box is dropped if it shares more than this with a better one.

    Raises:
        RuntimeError: for other shapes or dtypes.
    """
    _check(dets, scores)
    order = scores.argsort(stable=True, dim=0, descending=True)
    boxes = dets[order]
    low, high = boxes[:, :2], boxes[:, 2:]
    area = (high - low).prod(1)
    kept: list[int] = []
    alive = torch.ones(len(boxes), dtype=torch.bool, device=dets.device)
    for i in range(len(boxes)):
        if not alive[i]:
            continue
        kept.append(i)
        shared = (
            (high[i + 1 :].minimum(high[i]) - low[i + 1 :].maximum(low[i])).clamp(min=0).prod(1)
        )
        overlap = shared / (area[i] + area[i + 1 :] - shared)
        alive[i + 1 :] &= ~(overlap > iou_threshold)
    return order[torch.tensor(kept, dtype=torch.int64, device=dets.device)]


def _check(dets: Tensor, scores: Tensor) -> None:
    torch._check(dets.dim() == 2, lambda: f"boxes should be a 2d tensor, got {dets.dim()}D")
    torch._check(
        dets.size(1) == 4,
        lambda: f"boxes should have 4 elements in dimension 1, got {dets.size(1)}",
    )
    torch._check(scores.dim() == 1, lambda: f"scores should be a 1d tensor, got {scores.dim()}D")
    torch._check(
        dets.size(0) == scores.size(0),
        lambda: (
            f"boxes and scores should have same number of elements in dimension 0, got "
            f"{dets.size(0)} and {scores.size(0)}"
        ),
    )
    torch._check(dets.dtype == scores.dtype, lambda: "dets should have the same type as scores")
