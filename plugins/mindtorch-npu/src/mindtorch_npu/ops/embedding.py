"""Rows of a table at given indices, and classes as rows."""

from __future__ import annotations

from typing import Any

from mindtorch_core.backend import int64, numel

from ..creation import fill
from .operands import contiguous, empty, filled, takes
from .steps import Call, Work, rule_of, steps

__all__: list[str] = []


@steps("aten::embedding")
def embedding(
    weight: Any, indices: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Work | None:  # fmt: skip
    """Rows of a table."""
    spec = rule_of("embedding")(weight, indices, padding_idx, scale_grad_by_freq, sparse)
    d = weight.raw_dtype
    if not takes("Embedding", d):
        return None
    out = empty(spec.shape, d, weight.raw_device)
    return out, [("Embedding", (weight, indices, out))] if numel(spec.shape) else []


@steps("aten::embedding_dense_backward")
def embedding_dense_backward(
    grad_output: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Work | None:
    """Gradient of `embedding` for its table."""
    d, on = grad_output.raw_dtype, grad_output.raw_device
    if not takes("EmbeddingDenseBackward", d):
        return None
    columns = grad_output.raw_shape[-1]
    out, calls = empty((num_weights, columns), d, on), list[Call]()
    if not numel(grad_output.raw_shape):
        return out, fill(out, 0)
    padding = padding_idx if padding_idx >= 0 else (1 << 64) - 1  # no row
    pair = contiguous(grad_output, calls), contiguous(indices, calls)
    arguments = (*pair, num_weights, padding, scale_grad_by_freq, out)
    calls.append(("EmbeddingDenseBackward", arguments))
    return out, calls


@steps("aten::one_hot")
def one_hot(self: Any, num_classes: int = -1) -> Work | None:
    """Rows of zeros with a one at each class.

    A class out of range is not found out, as that would wait for the device.
    """
    if self.raw_dtype is not int64 or num_classes <= 0:
        return None
    on, calls = self.raw_device, list[Call]()
    out = empty((*self.raw_shape, num_classes), int64, on)
    if numel(self.raw_shape):
        pair = filled((1,), 1, int64, on, calls), filled((1,), 0, int64, on, calls)
        calls.append(("OneHot", (self, num_classes, *pair, -1, out)))
    return out, calls
