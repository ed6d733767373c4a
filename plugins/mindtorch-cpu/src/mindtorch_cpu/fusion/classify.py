"""What fusion can make of an op: element-wise, a reduction of trailing dimensions, or nothing."""

from __future__ import annotations

from typing import Final

from mindtorch_core.dispatch.pipeline import Entry, RecordedOp
from mindtorch_core.dtypes import FLOATING
from mindtorch_core.shapes import wrap_dims

from ..ops.ufuncs import REFUSING

__all__ = ["Reduction", "is_elementwise", "is_own_kernel", "reduction_of"]

_REDUCTIONS: Final = frozenset(["aten::sum", "aten::amax", "aten::amin"])


def is_own_kernel(op: RecordedOp) -> bool:
    """Whether the kernel that was recorded is this backend's: another one may do anything."""
    module = str(getattr(op.kernel, "__module__", ""))
    return op.plan is None and module.partition(".")[0] == "mindtorch_cpu"


def is_elementwise(entry: Entry) -> bool:
    """Whether each element of the result comes from the elements at its place."""
    op = entry[0]
    d = op.definition
    if d is None or len(entry[3]) != 1 or not is_own_kernel(op):
        return False
    what = d if d.functional is None else d.functional
    if not ("pointwise" in d.tags or what.copies or what.fills):
        return False
    return op.name not in REFUSING or entry[3][0]._dtype.category >= FLOATING


class Reduction:
    """A reduction of the trailing dimensions of its input.

    Attributes:
        kept: number of leading dimensions that stay; 0 for a reduction to one element.
        keepdim: whether the others stay with size 1.
    """

    __slots__ = ("keepdim", "kept")

    def __init__(self, kept: int, keepdim: bool) -> None:
        self.kept = kept
        self.keepdim = keepdim


def reduction_of(entry: Entry) -> Reduction | None:
    """How an entry reduces, if it is a reduction that fusion serves."""
    op, args = entry[0], entry[1]
    if op.name not in _REDUCTIONS or not is_own_kernel(op):
        return None
    source = args[0]
    rank = len(source._shape)
    dim = args[1] if len(args) > 1 else None
    keepdim = bool(args[2]) if len(args) > 2 else False
    if dim is None or dim == () or dim == []:
        dims: tuple[int, ...] = tuple(range(rank))
    else:
        dims = tuple(sorted(wrap_dims(dim, rank)))
    kept = rank - len(dims)
    if dims != tuple(range(kept, rank)) or not rank:
        return None
    if kept == 0 and (source._dtype.category != FLOATING or keepdim):
        return None
    return Reduction(kept, keepdim)
