"""What fusion can make of an op: element-wise, a reduction of trailing dimensions, or nothing."""

from __future__ import annotations

from typing import Final

import numpy as np

from mindtorch_core.backend import FLOATING, is_contiguous, wrap_dims
from mindtorch_core.dispatch.pipeline import Entry, RecordedOp

from ..arrays import WIDER
from ..ops.ufuncs import REFUSING

__all__ = ["Reduction", "is_elementwise", "is_own_kernel", "reduction_of"]

# The reductions that a group may hold, and what joins the results of two of its tiles.
_JOINED_BY: Final[dict[str, np.ufunc]] = {
    "aten::sum": np.add,
    "aten::amax": np.maximum,
    "aten::amin": np.minimum,
}


def is_own_kernel(op: RecordedOp) -> bool:
    """Whether the kernel that was recorded is this backend's: another one may do anything."""
    module = str(getattr(op.kernel, "__module__", ""))
    return op.plan is None and module.partition(".")[0] == "mindtorch_cpu"


def is_elementwise(entry: Entry) -> bool:
    """Whether each element of the result comes from the elements at its place."""
    op = entry.op
    d = op.definition
    if d is None or len(entry.outs) != 1 or not is_own_kernel(op):
        return False
    what = d if d.functional is None else d.functional
    if not ("pointwise" in d.tags or what.traits.copies or what.traits.fills):
        return False
    return op.name not in REFUSING or entry.outs[0].raw_dtype.category >= FLOATING


class Reduction:
    """A reduction of the trailing dimensions of its input.

    Attributes:
        kept: number of leading dimensions that stay; 0 for a reduction to one element.
        keepdim: whether the others stay with size 1.
        join: makes one of what two tiles were reduced to.
    """

    __slots__ = ("join", "keepdim", "kept")

    def __init__(self, kept: int, keepdim: bool, join: np.ufunc) -> None:
        self.kept = kept
        self.keepdim = keepdim
        self.join = join


def reduction_of(entry: Entry) -> Reduction | None:
    """How an entry reduces, if it is a reduction that fusion serves.

    Of what is not row-major the kernel adds up in an order that depends on how many rows there are: tiles
    have fewer. Of all elements it adds up tile by tile as well, but rounds halves only once.
    """
    op, args = entry.op, entry.args
    join = _JOINED_BY.get(op.name)
    if join is None or not is_own_kernel(op):
        return None
    source = args[0]
    rank = len(source.raw_shape)
    dim = args[1] if len(args) > 1 else None
    keepdim = bool(args[2]) if len(args) > 2 else False
    if dim is None or dim == () or dim == []:
        dims: tuple[int, ...] = tuple(range(rank))
    else:
        dims = tuple(sorted(wrap_dims(dim, rank)))
    kept = rank - len(dims)
    if dims != tuple(range(kept, rank)) or not rank:
        return None
    if not is_contiguous(source.raw_shape, source.raw_geometry()[0]):
        return None
    d = source.raw_dtype
    if kept == 0 and (d.category != FLOATING or keepdim or entry.outs[0].raw_dtype in WIDER):
        return None
    return Reduction(kept, keepdim, join)
