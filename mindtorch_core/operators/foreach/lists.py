"""What ops on lists of tensors refuse, in PyTorch's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...tensors.tensor import Tensor

__all__ = ["check_lists", "check_numbers"]

Tensors = Sequence[Tensor]


def check_lists(first: Tensors, *others: Tensors) -> None:
    """Refuse an empty list, and lists that are not of one length.

    Raises:
        RuntimeError: if a list is empty or longer than another.
    """
    if not first:
        raise RuntimeError("Tensor list must have at least one tensor.")
    for other in others:
        if len(other) != len(first):
            raise RuntimeError(
                f"Tensor lists must have the same number of tensors, got {len(first)} and {len(other)}"
            )


def check_numbers(first: Tensors, numbers: Sequence[Any]) -> None:
    """Refuse a list of numbers that has not one for each tensor.

    Raises:
        RuntimeError: if it is shorter or longer.
    """
    if len(numbers) != len(first):
        raise RuntimeError("Tensor list must have same number of elements as scalar list.")
