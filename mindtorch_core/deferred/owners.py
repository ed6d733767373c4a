"""Results that share memory with something else, though each was to have its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..tensors.tensor import Tensor
from ..values.shapes import numel, storage_extent
from .trace import TENSORS

__all__ = ["Owners"]


class Owners:
    """Whose memory is what.

    Args:
        operands: tensors that no result may share memory with.
    """

    __slots__ = ("_owners",)

    def __init__(self, operands: Iterable[Tensor]) -> None:
        # By id of a memory, who shows it, and what that is.
        self._owners: dict[int, list[tuple[Tensor, str]]] = {}
        for t in operands:
            if (memory := _memory(t)) is not None:
                self._owners.setdefault(id(memory), []).append((t, "an operand"))

    def claim(self, result: Any, by: str) -> None:
        """Note whose memory the tensors of a result are from now on.

        Args:
            result: of an op that makes new tensors: one, or several.
            by: who gave it.

        Raises:
            RuntimeError: if they are somebody's already.
        """
        for t in result if isinstance(result, tuple | list) else (result,):
            if not TENSORS[t.__class__] or (memory := _memory(t)) is None:
                continue
            owners = self._owners.setdefault(id(memory), [])
            for other, what in owners:
                if _overlap(t, other):
                    raise RuntimeError(
                        f"{by} gave memory of {what} where a tensor with memory of its own was promised"
                    )
            owners.append((t, "another result"))


def _memory(t: Tensor) -> Any:
    """The memory of a tensor, if it is there."""
    s = t._storage
    return t._data if s is None else s.memory


def _overlap(a: Tensor, b: Tensor) -> bool:
    """Whether tensors of one memory may show the same bytes of it."""
    (start, end), (other_start, other_end) = _extent(a), _extent(b)
    return start < other_end and other_start < end


def _extent(t: Tensor) -> tuple[int, int]:
    strides, offset = t._geometry()
    size = t._dtype.itemsize
    end = storage_extent(t._shape, strides, offset) if numel(t._shape) else offset
    return offset * size, end * size
