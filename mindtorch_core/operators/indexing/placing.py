"""Elements and slices put to positions: filled, copied, taken from a vector, chosen by a mask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op, public
from ...opdefs.rules import like
from ...tensors.tensor import Tensor
from ...values.dtypes import BOOL, COMPLEX, FLOATING, int64
from ...values.memory_formats import contiguous_format
from ...values.shapes import Shape, broadcast, numel, show, wrap_dim
from .gathering import check_range
from .index import Indices, index_shape

__all__: list[str] = []

# ---- slices -------------------------------------------------------------------------------------


def _fill_rule(self: Tensor, dim: int, index: Tensor, value: Any) -> TensorSpec:
    wrap_dim(dim, len(self._shape))
    if index._dtype is not int64:
        raise IndexError(
            f"index_fill_(): Expected dtype int64 for index, but got {index._dtype.label}"
        )
    if len(index._shape) > 1:
        raise RuntimeError(
            f"index_fill_(): Index has to be a vector/scalar, but it has shape {show(index._shape)}"
        )
    given = hasattr(value, "_keys")
    if given and value._shape:
        raise RuntimeError(
            f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{len(value._shape)} dimension(s)."
        )
    wide = value._dtype.category == COMPLEX if given else isinstance(value, complex)
    if wide and self._dtype.category != COMPLEX:
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    return like(self)


def _along(self: Tensor, dim: int, index: Tensor) -> list[Any]:
    """Index tensors that take slices of a tensor with dimensions."""
    return [*[None] * wrap_dim(dim, len(self._shape)), index.reshape(-1).to(int64)]


def _fill_slices(self: Any, dim: int, index: Any, value: Any) -> Any:
    """Write a number into slices, in place."""
    _fill_rule(self, dim, index, value)
    if not hasattr(value, "_keys"):
        value = self.new_full((), value)
    whole = self if self._shape else self.unsqueeze(0)
    whole._index_put_positions_(_along(whole, dim, index), value.to(self._dtype))
    return self


def _filled_value(g: Any, dim: int, index: Any) -> Any:
    """A position that is named several times counts once."""
    return g.index_select(dim, fn.unique(index)).sum()


for _overload, _type in (("int_Tensor", "Tensor"), ("int_Scalar", "Scalar")):
    op(
        f"index_fill.{_overload}(Tensor self, int dim, Tensor index, {_type} value) -> Tensor",
        doc="A copy of ``input`` with slices along a dimension filled with a number.",
        rule=_fill_rule,
        grad={"self": lambda g, dim, index: g.index_fill(dim, index, 0)}
        | ({"value": _filled_value} if _type == "Tensor" else {}),
        decomposition=lambda self, dim, index, value: _fill_slices(self.clone(), dim, index, value),
        inplace=True,
        inplace_decomposition=_fill_slices,
        puts=True,
        out=True,
    )


def _copy_rule(self: Tensor, dim: int, index: Tensor, source: Tensor) -> TensorSpec:
    at = wrap_dim(dim, len(self._shape))
    name = "index_copy_()"
    if len(index._shape) > 1:
        raise IndexError(f"{name}: Index should have dimension 1 or 0 (got {len(index._shape)})")
    count = numel(index._shape)
    if not source._shape and count != 1:
        raise IndexError(
            f"{name}: When source is scalar, index should have one element (got {count})"
        )
    if source._shape and self._shape and len(source._shape) != len(self._shape):
        raise IndexError(
            f"{name}: When source and destination are not scalars, their dimensionality must match. "
            f"Source dimensionality ({len(source._shape)}), destination dimensionality "
            f"({len(self._shape)})"
        )
    if index._dtype is not int64:
        raise RuntimeError(
            f"{name}: Expected a long tensor for index, but got {index._dtype.label}"
        )
    if self._dtype is not source._dtype:
        raise RuntimeError(
            f"{name}: self and source expected to have the same dtype, but got (self) "
            f"{self._dtype.label} and (source) {source._dtype.label}"
        )
    rest = (self._shape[:at] + self._shape[at + 1 :], source._shape[:at] + source._shape[at + 1 :])
    if rest[0] != rest[1]:
        raise RuntimeError(
            f"{name}: Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{show(rest[0])} at dimension {dim} and source slice shape: {show(rest[1])} at dimension "
            f"{dim}."
        )
    if source._shape and count != source._shape[at]:
        raise IndexError(
            f"{name}: Number of indices ({count}) should be equal to source.size(dim) "
            f"({source._shape[at]})"
        )
    return TensorSpec(self._shape, self._dtype)


def _copy_slices(self: Any, dim: int, index: Any, source: Any) -> Any:
    """Write slices, in place."""
    _copy_rule(self, dim, index, source)
    whole = self if self._shape else self.unsqueeze(0)
    at = wrap_dim(dim, len(whole._shape))
    check_range("index_copy_", index, whole._shape[at], at, IndexError)
    whole._index_put_positions_(_along(whole, dim, index), source)
    return self


def _copied_back(g: Any, dim: int, index: Any, source_shape: Shape) -> Any:
    if source_shape:
        return g.index_select(dim, index).expand(source_shape)
    return g.index_select(dim, index.reshape(1)).reshape(())


op(
    "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
    doc="A copy of ``input`` with slices along a dimension replaced by those of ``source``.",
    rule=_copy_rule,
    grad={
        "self": lambda g, dim, index: g.index_fill(dim, index, 0),
        "source": _copied_back,
    },
    decomposition=lambda self, dim, index, source: _copy_slices(
        self.clone(memory_format=contiguous_format), dim, index, source
    ),
    inplace=True,
    inplace_decomposition=_copy_slices,
    out=True,
)

# ---- the tensor as one row ----------------------------------------------------------------------


def _put_rule(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> TensorSpec:
    if index._dtype is not int64:
        raise RuntimeError(
            f"put_(): Expected a long tensor for index, but got {index._dtype.label}"
        )
    if source._dtype is not self._dtype:
        raise RuntimeError(
            f"put_(): Expected source and self to have the same dtype, but got self.dtype = "
            f"{self._dtype.label} and source.dtype = {source._dtype.label}"
        )
    if numel(index._shape) != numel(source._shape):
        raise IndexError(
            f"put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {numel(source._shape)}, index.numel() = {numel(index._shape)}"
        )
    if numel(index._shape) and not numel(self._shape):
        raise IndexError("put_(): Tried to put elements into an empty tensor")
    return like(self)


def _put(self: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    _put_rule(self, index, source, accumulate)
    count = numel(self._shape)
    if not numel(index._shape):
        return self.clone()
    try:
        put = fn._index_put_positions(
            self.reshape(-1), [index.reshape(-1)], source.reshape(-1), accumulate
        )
    except IndexError:
        outside = index[(index < -count) | (index >= count)]
    else:
        found = put.view(self._shape)
        return found if like(self).strides is None else fn.empty_like(self).copy_(found)
    raise IndexError(
        f"out of range: tried to access index {outside[0].item()} on a tensor of {count} elements."
    )


op(
    "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
    doc="A copy of ``input`` with elements put (or added) at positions in the tensor read as one row.",
    rule=_put_rule,
    grad={
        "self": lambda g, index, accumulate: (
            g if accumulate else g.put(index, g.new_zeros(index._shape))
        ),
        "source": lambda g, index, source_shape: g.take(index).reshape(source_shape),
    },
    decomposition=_put,
    inplace=True,
)


def _take_along_dim(self: Any, indices: Any, dim: int | None = None) -> Any:
    if dim is None:
        return self.reshape(-1).gather(0, indices.reshape(-1))
    if len(self._shape) != len(indices._shape):
        raise RuntimeError(
            f"torch.take_along_dim(): input and indices should have the same number of dimensions, but "
            f"got {len(self._shape)} dimensions for input, and {len(indices._shape)} dimensions for "
            f"indices"
        )
    if indices._dtype is not int64:
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {indices._dtype.label}"
        )
    at = wrap_dim(dim, len(self._shape))
    if not self._shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    own, asked = list(self._shape), list(indices._shape)
    common = broadcast(_without(own, at), _without(asked, at))
    parts = [(*common[:at], t._shape[at], *common[at:]) for t in (self, indices)]
    given, indices = (
        t if t._shape == shape else t.expand(shape)
        for t, shape in zip((self, indices), parts, strict=True)
    )
    return given.gather(at, indices.remainder(self._shape[at]))  # negative positions wrap around


def _without(sizes: Sequence[int], at: int) -> Shape:
    return (*sizes[:at], *sizes[at + 1 :])


op(
    "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    doc="Elements picked along a dimension, where the other sizes are broadcast; without a dimension "
    "both tensors are read as rows.",
    decomposition=_take_along_dim,
    out=True,
)


@public("torch")
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Coordinates, in a tensor of some shape, of positions in the tensor read as one row.

    Args:
        indices: positions, from 0 on.
        shape: an int or a sequence of ints.

    Returns:
        A tensor per dimension, each in the shape of ``indices``.

    Raises:
        ValueError: if a size is negative.
        TypeError: if the positions are no integers, or the shape is made of something else.
    """
    if not hasattr(indices, "_keys") or not BOOL < indices._dtype.category < FLOATING:
        kind = indices._dtype if hasattr(indices, "_keys") else type(indices).__name__
        raise TypeError(f"expected 'indices' to be integer dtype, but got {kind}")
    sizes = list(shape) if isinstance(shape, Iterable) else [shape]
    if not all(isinstance(n, int) for n in sizes):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {shape!r}")
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    found, rest = [], indices.to(int64)
    for size in reversed(sizes):
        found.append(fn.remainder(rest, size))
        rest = fn.floor_divide(rest, size)
    return tuple(reversed(found))


# ---- masks --------------------------------------------------------------------------------------


def _masked_rule(self: Tensor, mask: Tensor, source: Tensor) -> TensorSpec:
    if mask._dtype.category != BOOL:
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask._dtype.label}"
        )
    if self._dtype is not source._dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got "
            f"{self._dtype.label} and {source._dtype.label}"
        )
    return TensorSpec(broadcast(self._shape, mask._shape), self._dtype)


def _masked_scatter(self: Any, mask: Any, source: Any) -> Any:
    shape = _masked_rule(self, mask, source).shape
    where = mask.expand(shape).reshape(-1).nonzero().squeeze(1)
    count = where._shape[0]
    if count > numel(source._shape):
        raise RuntimeError(
            f"masked_scatter: expected number of elements of source to be >= number of ones in mask, "
            f"but there are {numel(source._shape)} for {count}"
        )
    values = source.reshape(-1).narrow(0, 0, count)
    flat = self.expand(shape).reshape(-1)
    return fn._index_put_positions(flat, [where], values, False).view(shape)


def _scattered_source(g: Any, mask: Any, source_shape: Shape) -> Any:
    used = g.masked_select(mask)
    rest = g.new_zeros((numel(source_shape) - used._shape[0],))
    return fn.cat([used, rest]).view(source_shape)


op(
    "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
    doc="A copy of ``input`` in which elements where the mask holds are, one after another, those of "
    "``source``.",
    rule=_masked_rule,
    grad={
        "self": lambda g, mask: g.masked_fill(mask, 0),
        "source": _scattered_source,
    },
    decomposition=_masked_scatter,
    broadcasts=True,
    inplace=True,
)


def _clamped(self: Tensor, indices: Indices) -> list[Tensor | None]:
    """Positions moved into the tensor; None keeps a dimension."""
    return [
        None if t is None else t.clamp(-size, size - 1)
        for t, size in zip(indices, self._shape, strict=False)
    ]


def _masked_index(self: Any, mask: Any, indices: Indices, fill: Any) -> Any:
    if not numel(self._shape):
        return self.new_full(index_shape(self._shape, indices), fill)
    found = fn._index_positions(self, _clamped(self, indices))
    return found.masked_fill(_aligned(mask, found).logical_not(), fill)


def _aligned(mask: Any, found: Any) -> Any:
    """The mask with further dimensions behind, up to the rank of what it belongs to."""
    return mask.reshape(mask._shape + (1,) * (len(found._shape) - len(mask._shape)))


op(
    "_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor",
    doc="`index` where a mask holds, a number elsewhere; there positions may be out of range.",
    decomposition=_masked_index,
    namespaces=("torch",),
)


def _masked_index_put(self: Any, mask: Any, indices: Indices, values: Any) -> Any:
    if not numel(self._shape):
        return self.clone()
    kept = values.masked_fill(_aligned(mask, values).logical_not(), 0)
    return fn._index_put_positions(self, _clamped(self, indices), kept, True)


op(
    "_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) "
    "-> Tensor",
    doc="A copy with values added at positions where a mask holds; elsewhere they may be out of range.",
    decomposition=_masked_index_put,
    namespaces=("torch",),
)
op(
    "_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    doc="As `index`; indices are checked all the same.",
    decomposition=lambda self, indices: fn.index(self, indices),
    namespaces=("torch",),
)
op(
    "_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    doc="As `index_put`; indices are checked all the same.",
    decomposition=lambda self, indices, values, accumulate=False: self.index_put(
        indices, values, accumulate
    ),
    namespaces=("torch",),
)
op(
    "_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False, "
    "bool unsafe=False) -> Tensor(a!)",
    doc="As `index_put_`; ``unsafe`` changes nothing, indices are always checked.",
    decomposition=lambda self, indices, values, accumulate=False, unsafe=False: self.index_put_(
        indices, values, accumulate
    ),
    puts=True,
    namespaces=("torch",),
)
