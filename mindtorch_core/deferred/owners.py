"""Results that share memory with something else, though each was to have its own."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from ..dispatch.keys import CONJUGATE, NEGATIVE
from ..tensors.tensor import Tensor
from ..values.shapes import numel, storage_extent
from .settling import mismatch
from .trace import TENSORS, Entry, tensors_of

__all__ = ["Owners", "owners_of"]

_UNRESOLVED: Final = int(CONJUGATE | NEGATIVE)
# By id of a memory, the tensor with which somebody was last given it; looked at, so never taken at its word.
_HANDED: Final = weakref.WeakValueDictionary[int, Tensor]()


class Owners:
    """Whose memory is what.

    Args:
        operands: tensors that no result may share memory with.
        donated: whether results may have memory of operands that nobody can see any more.
    """

    __slots__ = ("_donated", "_owners")

    def __init__(self, operands: Iterable[Tensor], *, donated: bool = False) -> None:
        self._donated = donated
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
            if not TENSORS[t.__class__]:
                continue
            if t._keys & _UNRESOLVED:
                what = "a conjugate or negative view"
                raise RuntimeError(
                    f"{by} gave {what} where a tensor that holds its numbers was promised"
                )
            if (memory := _memory(t)) is None:
                if t._storage is not None and t._storage.pending is not None:
                    raise RuntimeError(f"{by} gave a tensor that has no value yet")
                continue
            owners = self._owners.setdefault(id(memory), [])
            before = None if self._donated else _HANDED.get(id(memory))
            if before is not None and before is not t and _memory(before) is memory:
                owners.append((before, "an earlier result"))
            for other, what in owners:
                if _overlap(t, other):
                    raise RuntimeError(
                        f"{by} gave memory of {what} where a tensor with memory of its own was promised"
                    )
            owners.append((t, "another result"))

    def accept(self, entry: Entry, result: Any, by: str) -> Any:
        """What is to be settled of a result that a plan gave for an op.

        Nothing of that of an op in place, which has written its memory, and of a view, which shows it.

        Raises:
            RuntimeError: if it lies where it must not, or is of another kind than the op's.
        """
        op = entry.op
        if not (op.writes or op.view) or result is None:
            self.claim(result, by)
            return result
        results = result if isinstance(result, tuple | list) else (result,)
        for t, r in zip(entry.outs, results, strict=False):
            if r is None or r is t:
                continue
            if not isinstance(r, Tensor) or (r._shape, r._dtype) != (t._shape, t._dtype):
                raise mismatch(r, t._shape, t._dtype, t._device, by)
            if op.writes and _memory(r) is not _memory(t) and id(_memory(r)) not in self._owners:
                raise RuntimeError(
                    f"{by} gave memory of its own where the op was to write that of its operand"
                )
        return None

    @staticmethod
    def hand_out(results: Iterable[Tensor]) -> None:
        """Remember whose memory is somebody's from now on."""
        for t in results:
            if (memory := _memory(t)) is not None:
                _HANDED[id(memory)] = t


def owners_of(compute: Callable[[], Any] | None, entries: Sequence[Entry]) -> Owners | None:
    """Whose memory a step must not give for results; None where nobody looks.

    Where a step may overwrite operands, and does not say which not, their memory may be that of results.
    """
    if getattr(compute, "trusted", False):
        return None
    donated = getattr(compute, "donated", False)
    operands = getattr(compute, "operands", None)
    if operands is None:
        given = (t for e in entries for t in tensors_of((*e.args, *e.kwargs.values())))
        operands = () if donated else given  # those that the step makes have no memory yet
    return Owners(operands, donated=donated)


def _memory(t: Tensor) -> Any:
    """The memory of a tensor, if it is there."""
    s = t._storage
    return t._payload if s is None else s.memory


def _overlap(a: Tensor, b: Tensor) -> bool:
    """Whether tensors of one memory may show the same bytes of it."""
    (start, end), (other_start, other_end) = _extent(a), _extent(b)
    return start < other_end and other_start < end


def _extent(t: Tensor) -> tuple[int, int]:
    strides, offset = t._geometry()
    size = t._dtype.itemsize
    end = storage_extent(t._shape, strides, offset) if numel(t._shape) else offset
    return offset * size, end * size
