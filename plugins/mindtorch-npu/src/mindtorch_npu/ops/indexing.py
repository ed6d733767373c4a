"""Picking and placing elements by index tensors.

Positions out of range are found on the device, where the operator fails: the error comes out of the
next synchronisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_core.backend import Shape, Tensor, bool_, index_shape, int64, numel, wrap_dim

from .. import aclnn
from ..fallback import below, otherwise
from .copying import copied
from .operands import (
    cast,
    contiguous,
    element,
    empty,
    expanded,
    number,
    packed,
    ranked,
    seen,
    takes,
)
from .steps import MOST_DIMS, Call, Work, accepts, kernel, rule_of, steps

__all__: list[str] = []

Indices = Sequence[Tensor | None]

_REPLACE, _ADD = 0, 1


# ---- by several index tensors --------------------------------------------------------------------


def _listed(self: Tensor, indices: Indices) -> list[Tensor]:
    """Index tensors on the tensor's device; one without elements stands for a whole dimension."""
    on = self.raw_device
    return [
        empty((0,), int64, on) if t is None else below(t.to, on) if t.raw_device is not on else t
        for t in indices
    ]


@steps("aten::_index_positions")
def index(self: Any, indices: Any) -> Work | None:
    """Elements at integer positions."""
    spec = rule_of("_index_positions")(self, indices)
    d = self.raw_dtype
    if not takes("Index", d):
        return None
    out, calls = empty(spec.shape, d, self.raw_device), list[Call]()
    if not numel(spec.shape):
        return out, calls
    found = _listed(self, indices)
    if not any(numel(t.raw_shape) for t in found):
        return out, copied(out, self)
    calls.append(("Index", (self, [_index(t, calls) for t in found], out)))
    return out, calls


def _index(t: Tensor, calls: list[Call]) -> Tensor:
    """An index tensor of a dtype that operators take."""
    return t if t.raw_dtype.name in ("int32", "int64") else cast(t, int64, calls)


@steps("aten::_index_put_positions_")
def index_put(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Work | None:
    """Put or add values at integer positions."""
    rule_of("_index_put_positions")(self, indices, values, accumulate)
    d = self.raw_dtype
    if not takes("IndexPutImpl", d):
        return None
    if values.raw_device is not self.raw_device:
        values = below(values.to, self.raw_device)
    shape = index_shape(self.raw_shape, indices)
    calls: list[Call] = []
    if not numel(shape):
        return self, calls
    found = _listed(self, indices)
    if not any(numel(t.raw_shape) for t in found):
        if accumulate:
            return self, [("InplaceAdd", (self, values, 1))]
        return self, copied(self, values)
    listed = [_index(t, calls) for t in found]
    calls.append(("IndexPutImpl", (self, listed, expanded(values, shape), accumulate, False)))
    return self, calls


@kernel("aten::nonzero")
def nonzero(self: Any) -> Any:
    """Positions of non-zero elements; waits for the device."""
    rank, count = len(self.raw_shape), numel(self.raw_shape)
    on = self.raw_device
    if not rank:
        return empty((int(bool(self.item())), 0), int64, on)
    if not count:
        return empty((0, rank), int64, on)
    if rank > MOST_DIMS:
        return otherwise("aten::nonzero", self)
    source = self
    if not accepts("Nonzero", "self", self.raw_dtype):
        source = empty(self.raw_shape, bool_, on)
        aclnn.call("NeScalar", self, 0, source)
    largest = empty((count, rank), int64, on)
    ((found, _),) = aclnn.call_sized("Nonzero", source, largest)
    out = empty((found, rank), int64, on)
    for operator, arguments in copied(out, seen(largest, (found, rank), (rank, 1), 0)):
        aclnn.call(operator, *arguments)
    return out


# ---- along a dimension ---------------------------------------------------------------------------


@steps("aten::gather")
def gather(self: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Work | None:
    """Elements picked along a dimension."""
    spec = rule_of("gather")(self, dim, index)
    d = self.raw_dtype
    if not takes("Gather", d):
        return None
    out, calls = empty(spec.shape, d, self.raw_device), list[Call]()
    if numel(spec.shape):
        at = wrap_dim(dim, len(self.raw_shape))
        calls.append(("Gather", (ranked(self), at, ranked(index), ranked(out))))
    return out, calls


@steps("aten::index_select")
def index_select(self: Any, dim: int, index: Any) -> Work | None:
    """Slices at positions along a dimension."""
    spec = rule_of("index_select")(self, dim, index)
    d = self.raw_dtype
    if not takes("IndexSelect", d):
        return None
    out, calls = empty(spec.shape, d, self.raw_device), list[Call]()
    if numel(spec.shape):
        at = wrap_dim(dim, len(self.raw_shape))
        where = contiguous(ranked(index), calls)
        calls.append(("IndexSelect", (ranked(self), at, where, ranked(out))))
    return out, calls


def _corner(src: Tensor, shape: Shape) -> Tensor:
    """The leading part of a tensor that has a shape."""
    strides, offset = src.raw_geometry()
    return src if src.raw_shape == shape else seen(src, shape, strides, offset)


def _scattered(self: Any, dim: int, index: Any, src: Any, mode: int) -> Work | None:
    """A copy with elements put or added at positions along a dimension."""
    d = self.raw_dtype
    operator = "ScatterAdd" if mode == _ADD else "Scatter"
    if not takes(operator, d):
        return None
    out, calls = empty(self.raw_shape, d, self.raw_device), list[Call]()
    if not numel(index.raw_shape) or not numel(self.raw_shape):
        return out, copied(out, self)
    at = wrap_dim(dim, len(self.raw_shape))
    where = ranked(index)
    part = packed(operator, "src", _corner(ranked(src), where.raw_shape), calls)
    more = () if mode == _ADD else (mode,)
    calls.append((operator, (ranked(self), at, where, part, *more, ranked(out))))
    return out, calls


@steps("aten::scatter_add")
def scatter_add(self: Any, dim: int, index: Any, src: Any) -> Work | None:
    """A copy with elements added at positions along a dimension."""
    rule_of("scatter_add")(self, dim, index, src)
    return _scattered(self, dim, index, src, _ADD)


@steps("aten::scatter.src")
def scatter(self: Any, dim: int, index: Any, src: Any) -> Work | None:
    """A copy with elements put at positions along a dimension."""
    rule_of("scatter.src")(self, dim, index, src)
    return _scattered(self, dim, index, src, _REPLACE)


@steps("aten::scatter_add_")
def scatter_add_(self: Any, dim: int, index: Any, src: Any) -> Work | None:
    """Add elements at positions along a dimension, in place."""
    work = scatter_add(self, dim, index, src)
    return None if work is None else (self, [*work[1], *copied(self, work[0])])


@steps("aten::scatter_.src")
def scatter_(self: Any, dim: int, index: Any, src: Any) -> Work | None:
    """Put elements at positions along a dimension, in place."""
    rule_of("scatter.src")(self, dim, index, src)
    d = self.raw_dtype
    if not takes("InplaceScatter", d):
        return None
    if not numel(index.raw_shape):
        return self, []
    where = ranked(index)
    part = _corner(ranked(src), where.raw_shape)
    at = wrap_dim(dim, len(self.raw_shape))
    return self, [("InplaceScatter", (ranked(self), at, where, part, _REPLACE))]


@steps("aten::scatter.value")
def scatter_value(self: Any, dim: int, index: Any, value: Any) -> Work | None:
    """A copy with one value put at positions along a dimension."""
    rule_of("scatter.value")(self, dim, index, value)
    d = self.raw_dtype
    if not takes("ScatterValue", d):
        return None
    out = empty(self.raw_shape, d, self.raw_device)
    if not numel(index.raw_shape):
        return out, copied(out, self)
    at = wrap_dim(dim, len(self.raw_shape))
    arguments = (ranked(self), at, ranked(index), element(value, d), _REPLACE, ranked(out))
    return out, [("ScatterValue", arguments)]


@steps("aten::index_add")
def index_add(self: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Work | None:
    """A copy with slices added at positions along a dimension."""
    rule_of("index_add")(self, dim, index, source, alpha=alpha)
    d = self.raw_dtype
    if not takes("IndexAdd", d) or not self.raw_shape:
        return None
    out, calls = empty(self.raw_shape, d, self.raw_device), list[Call]()
    if not numel(source.raw_shape) or not numel(self.raw_shape):
        return out, copied(out, self)
    at = wrap_dim(dim, len(self.raw_shape))
    slices = packed("IndexAdd", "source", source, calls)
    arguments = (self, at, ranked(index), slices, number(alpha, d), out)
    calls.append(("IndexAdd", arguments))
    return out, calls


@steps("aten::index_add_")
def index_add_(self: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Work | None:
    """Add slices at positions along a dimension, in place."""
    work = index_add(self, dim, index, source, alpha=alpha)
    return None if work is None else (self, [*work[1], *copied(self, work[0])])


@steps("aten::index_copy")
def index_copy(self: Any, dim: int, index: Any, source: Any) -> Work | None:
    """A copy with slices replaced at positions along a dimension."""
    rule_of("index_copy")(self, dim, index, source)
    out = empty(self.raw_shape, self.raw_dtype, self.raw_device)
    calls = copied(out, self)
    return (out, calls) if _replaced(out, dim, index, source, calls) else None


@steps("aten::index_copy_")
def index_copy_(self: Any, dim: int, index: Any, source: Any) -> Work | None:
    """Replace slices at positions along a dimension, in place."""
    rule_of("index_copy")(self, dim, index, source)
    calls: list[Call] = []
    return (self, calls) if _replaced(self, dim, index, source, calls) else None


def _replaced(target: Any, dim: int, index: Any, source: Any, calls: list[Call]) -> bool:
    """Append the call that replaces slices; False where no operator does it."""
    if (
        not takes("InplaceIndexCopy", target.raw_dtype)
        or not target.raw_shape
        or not source.raw_shape
    ):
        return False
    if numel(source.raw_shape):
        at = wrap_dim(dim, len(target.raw_shape))
        calls.append(("InplaceIndexCopy", (target, at, ranked(index), source)))
    return True
