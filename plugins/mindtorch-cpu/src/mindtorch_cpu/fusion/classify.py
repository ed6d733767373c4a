"""What fusion can make of an op: element-wise, a reduction of trailing dimensions, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.pipeline import Entry
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.dtypes import FLOATING
from mindtorch_core.shapes import wrap_dims

__all__ = ["Reduction", "is_elementwise", "is_own_kernel", "reduction_of"]

# Element-wise kernels whose rows are no functions of one element's value alone in name only.
_COPYING: Final = frozenset(
    ["aten::clone", "aten::copy_", "aten::_to_dtype", "aten::fill_.Scalar", "aten::zero_",
     "aten::threshold_backward"]
)  # fmt: skip
# Ops whose kernels refuse some values of integers, division by zero say: an error in the middle of
# a group could not be traced back to the op.
_REFUSING: Final = frozenset(
    f"aten::{name}{suffix}"
    for name in ("floor_divide", "remainder", "fmod", "pow", "div")
    for suffix in ("", "_")
)
_REDUCTIONS: Final = frozenset(["aten::sum", "aten::amax", "aten::amin"])

_own: Final[dict[Any, bool]] = {}


def is_own_kernel(name: str, impl: Callable[..., Any]) -> bool:
    """Whether the kernel that was recorded is this backend's: another one may do anything."""
    found = _own.get(impl)
    if found is None:
        record = registry.entry(name).record(DispatchKey.CPU)
        module = "" if record is None else getattr(record.fn, "__module__", "")
        found = _own[impl] = module.partition(".")[0] == "mindtorch_cpu"
    return found


def is_elementwise(entry: Entry) -> bool:
    """Whether each element of the result comes from the elements at its place."""
    op = entry[0]
    d = op.definition
    if d is None or not ("pointwise" in d.tags or op.name in _COPYING):
        return False
    out = entry[3][0]
    if op.name in _REFUSING and (out._dtype.category < FLOATING or entry[2]):
        return False
    return len(entry[3]) == 1 and op.plan is None and is_own_kernel(op.name, op.impl)


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
    if op.name not in _REDUCTIONS or op.plan is not None or not is_own_kernel(op.name, op.impl):
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
