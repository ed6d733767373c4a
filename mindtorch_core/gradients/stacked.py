"""Stacks of gradients: one walk for each, and the results stacked again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from .engine import run
from .roots import places_of, prepare

__all__ = ["batched"]


def batched(
    roots: list[Any],
    targets: list[Any],
    given: Sequence[Tensor | None] | Tensor | None,
    keep: bool,
    create_graph: bool,
) -> list[Any]:
    """What `grad` returns for ``is_grads_batched=True``.

    Args:
        roots: outputs.
        targets: inputs.
        given: for each output a stack of gradients, all of the same length.
        keep: leave saved values in place after the last walk.
        create_graph: record the walks.

    Raises:
        RuntimeError: if the stacks are missing, or do not fit.
    """
    stacks = [given] if isinstance(given, Tensor) else list(given or ())
    lengths = {g._shape[0] for g in stacks if g is not None and g._shape}
    if len(lengths) != 1 or any(g is not None and not g._shape for g in stacks):
        raise RuntimeError(
            "is_grads_batched=True needs grad_outputs whose first dimensions, the batch, have the same "
            "size"
        )
    for i, (g, t) in enumerate(zip(stacks, roots, strict=False)):
        if g is not None and isinstance(t, Tensor) and g._shape[1:] != t._shape:
            raise RuntimeError(
                f"If `is_grads_batched=True`, we interpret the first dimension of each grad_output as "
                f"the batch dimension. The sizes of the remaining dimensions are expected to match the "
                f"shape of corresponding output, but a mismatch was detected: grad_output[{i}] has a "
                f"shape of {g.shape} and output[{i}] has a shape of {t.shape}."
            )
    (length,) = lengths
    wanted = places_of(targets)
    rows = []
    for j in range(length):
        starts, grads = prepare(roots, [None if g is None else g[j] for g in stacks], shown=True)
        rows.append(run(starts, grads, keep or j < length - 1, create_graph, wanted))
    return [_stacked(column) for column in zip(*rows, strict=True)]


def _stacked(column: tuple[Any, ...]) -> Any:
    """The gradients of one input, None if there are none."""
    found = next((g for g in column if g is not None), None)
    if found is None:
        return None
    return fn.stack([found.new_zeros(found._shape) if g is None else g for g in column])
