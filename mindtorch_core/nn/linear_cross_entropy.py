"""Cross entropy of a linear layer's outputs, also chunk by chunk to save memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..dispatch.functions import fn, fn_nn
from ..opdefs.define import public
from ..tensors.tensor import Tensor
from ..values.dtypes import FLOATING
from ..values.shapes import numel, show

__all__ = ["LinearCrossEntropyOptions", "linear_cross_entropy"]


@dataclass(frozen=True)
class LinearCrossEntropyOptions:
    """How `linear_cross_entropy` divides its work.

    Attributes:
        batch_chunk_size: how many samples' logits exist at a time; None for about 4096 logits' worth.
    """

    batch_chunk_size: int | None = None


def _logits(input: Any, weight: Any, bias: Any) -> Any:
    """Outputs (N, C, d_1, ...) of a layer whose weight is (C, d_1, ..., features)."""
    shape = weight._shape[:-1]
    flat = weight.reshape(numel(shape), weight._shape[-1])
    out = fn_nn.linear(input, flat, None if bias is None else bias.reshape(numel(shape)))
    return out.reshape((*input._shape[:-1], *shape))


@public("nn")
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """`cross_entropy` of ``linear(input, linear_weight, linear_bias)``.

    Args:
        input: features, (N, F) or (F).
        linear_weight: (C, F), or (C, d_1, ..., F) for losses of several dimensions.
        target: class indices (N, d_1, ...), or class probabilities.
        linear_bias: of the weight's shape without its last dimension.
        weight: of each class, (C).
        reduction: ``none``, ``mean`` or ``sum``.
        ignore_index: a class index that does not count; -100 if None.
        label_smoothing: how much of the uniform distribution is mixed into the target.
        options: `LinearCrossEntropyOptions`: logits are computed chunk by chunk, and again in the
            backward pass, so that they never exist all at once. None computes them all.

    Raises:
        RuntimeError: if the shapes do not fit.
        ValueError: for another reduction.
    """
    if len(input._shape) not in (1, 2):
        raise RuntimeError(
            f"linear_cross_entropy: expected input of 1 or 2 dimensions, got {show(input._shape)}"
        )
    if len(linear_weight._shape) < 2 or linear_weight._shape[-1] != input._shape[-1]:
        raise RuntimeError(
            f"linear_cross_entropy: linear_weight of shape {show(linear_weight._shape)} does not fit "
            f"input of shape {show(input._shape)}"
        )
    if len(linear_weight._shape) > 2 and len(input._shape) == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {show(linear_weight._shape)} requires "
            f"batched input, [N, {linear_weight._shape[-1]}], got unbatched input with shape "
            f"{show(input._shape)}"
        )
    if ignore_index is not None and target._dtype.category >= FLOATING:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    skipped = -100 if ignore_index is None else ignore_index
    more = {"weight": weight, "ignore_index": skipped, "label_smoothing": label_smoothing}
    if options is None or len(input._shape) == 1 or len(linear_weight._shape) > 2:
        logits = _logits(input, linear_weight, linear_bias)
        return fn_nn.cross_entropy(logits, target, reduction=reduction, **more)
    return _chunked(input, linear_weight, target, linear_bias, reduction, more, options)


def _chunked(
    input: Any,
    linear_weight: Any,
    target: Any,
    bias: Any,
    reduction: str,
    more: dict[str, Any],
    options: Any,
) -> Tensor:
    from ..utils.checkpoint import checkpoint

    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    kind = "none" if reduction == "none" else "sum"

    def losses(rows: Any, weight: Any, labels: Any) -> Any:
        return fn_nn.cross_entropy(_logits(rows, weight, bias), labels, reduction=kind, **more)

    size = options.batch_chunk_size or max(4096 // linear_weight._shape[0], 1)
    parts = [
        checkpoint(losses, rows, linear_weight, labels, use_reentrant=False)
        for rows, labels in zip(input.split(size), target.split(size), strict=True)
    ]
    if kind == "none":
        return fn.cat(parts)
    total = fn.stack(parts).sum()
    return total if reduction == "sum" else total / _counted(target, more)


def _counted(target: Any, more: dict[str, Any]) -> Any:
    """What a mean divides by: the weights of the classes that count, or the number of samples."""
    if target._dtype.category >= FLOATING:
        return target._shape[0]
    kept = target != more["ignore_index"]
    if more["weight"] is None:
        return kept.sum()
    return (more["weight"].index_select(0, fn.where(kept, target, 0)) * kept).sum()
