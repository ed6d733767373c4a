"""How losses are reduced, and PyTorch's arguments for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final

from ...promotion import result_type
from ...tensor import Tensor
from ..define import op
from ..elementwise.composed import in_wide

__all__ = ["MEAN", "NONE", "SUM", "loss", "reduced", "reduction_of"]

NONE, MEAN, SUM = range(3)
_CODES: Final = {"none": NONE, "mean": MEAN, "sum": SUM}


def reduction_of(
    reduction: str, size_average: bool | None = None, reduce: bool | None = None
) -> int:
    """The number that ops know a reduction by.

    Args:
        reduction: ``none``, ``mean`` or ``sum``.
        size_average: deprecated: false for a sum.
        reduce: deprecated: false for no reduction.

    Raises:
        ValueError: for another word.
    """
    if size_average is not None or reduce is not None:
        averaged = size_average is None or size_average
        reduction = "none" if reduce is False else "mean" if averaged else "sum"
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use "
            f"reduction='{reduction}' instead.",
            stacklevel=3,
        )
    code = _CODES.get(reduction)
    if code is None:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return code


def reduced(losses: Any, reduction: int) -> Tensor:
    """The losses, their mean or their sum."""
    found: Tensor = losses
    if reduction == MEAN:
        found = losses.mean()
    elif reduction == SUM:
        found = losses.sum()
    return found


def loss(
    name: str,
    signature: str,
    doc: str,
    formula: Callable[..., Any],
    *,
    in_single: bool = False,
    **more: Any,
) -> None:
    """Define a loss, ``name(operands..., options...) -> Tensor``, from its formula.

    Args:
        name: the op.
        signature: its arguments; ``reduction`` among them is a number.
        doc: what it computes.
        formula: takes the same arguments.
        in_single: halves are computed in float32 and rounded once; the losses that PyTorch
            composes are rounded after each step there too.
        **more: further fields of `OpDef`.
    """

    def widened(*args: Any, **kwargs: Any) -> Tensor:
        d = result_type(*args[:2])
        if d.itemsize != 2 or not d.is_floating_point:
            return formula(*args, **kwargs)  # type: ignore[no-any-return]
        found: Tensor = formula(*(in_wide(a, d) for a in args[:2]), *args[2:], **kwargs)
        return found.to(d)

    op(
        f"{name}({signature}) -> Tensor",
        doc=doc,
        decomposition=widened if in_single else formula,
        **({"namespaces": (), "out": True} | more),
    )
