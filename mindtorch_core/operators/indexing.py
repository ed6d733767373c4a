"""Picking and placing elements by index tensors, and joining tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dtypes import BOOL, bool_, int64, uint8
from ..shapes import Shape, broadcast_all, numel, show, wrap_dim
from ..tensor import Tensor
from . import rules
from .define import NONDIFF, TensorSpec, fn, op

Indices = Sequence[Tensor | None]


def index_shape(shape: Shape, indices: Indices) -> Shape:
    """Shape of ``t[indices]`` for integer index tensors; None keeps a dimension.

    Raises:
        IndexError: if there are too many indices or they do not broadcast.
    """
    if len(indices) > len(shape):
        raise IndexError(
            f"too many indices for tensor of dimension {len(shape)} (got {len(indices)})"
        )
    found = [t for t in indices if t is not None]
    try:
        common = broadcast_all(t._shape for t in found)
    except RuntimeError:
        shapes = ", ".join(show(t._shape) for t in found)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None
    at = [i for i, t in enumerate(indices) if t is not None]
    rest = [n for i, n in enumerate(shape) if i >= len(indices) or indices[i] is None]
    adjacent = at == list(range(at[0], at[-1] + 1)) if at else True
    place = at[0] if at and adjacent else 0
    return (*rest[:place], *common, *rest[place:])


def integer_indices(self: Tensor, indices: Indices) -> list[Tensor | None]:
    """Indices with boolean masks turned into integer positions.

    Raises:
        IndexError: for indices of another dtype or masks of another shape.
    """
    out: list[Tensor | None] = []
    for t in indices:
        if t is None:
            out.append(None)
        elif t._dtype.category == BOOL or t._dtype is uint8:
            for i, n in enumerate(t._shape):
                at = len(out) + i
                if at >= len(self._shape) or self._shape[at] != n:
                    raise IndexError(
                        f"The shape of the mask {show(t._shape)} at index {i} does not match the "
                        f"shape of the indexed tensor {show(self._shape)} at index {at}"
                    )
            out += t.nonzero().unbind(1)
        elif t._dtype.category > 1:
            raise IndexError(
                f"tensors used as indices must be long, int, byte or bool tensors, got {t._dtype}"
            )
        else:
            out.append(t)
    return out


def has_mask(indices: Indices) -> bool:
    """Whether some index is a boolean mask, so that the result's shape depends on data."""
    return any(t is not None and (t._dtype is bool_ or t._dtype is uint8) for t in indices)


op(
    "index(Tensor self, Tensor?[] indices) -> Tensor",
    overloads=("Tensor",),
    doc="Elements at the positions that index tensors give, as ``input[indices]``.",
    decomposition=lambda self, indices: _index(self, indices),
    namespaces=("torch",),
)


def _index(self: Tensor, indices: Indices) -> Tensor:
    return fn._index_positions(self, integer_indices(self, indices))


op(
    "_index_positions(Tensor self, Tensor?[] indices) -> Tensor",
    doc="`index` by integer tensors only.",
    rule=lambda self, indices: TensorSpec(index_shape(self._shape, indices), self._dtype),
    grad={
        "self": lambda g, self_shape, indices: fn._index_put_positions(
            g.new_zeros(self_shape), indices, g, True
        )
    },
    primitive=True,
    crosses_devices=True,
    namespaces=("torch",),
)


def _index_put_rule(
    self: Tensor, indices: Indices, values: Tensor, accumulate: bool = False
) -> TensorSpec:
    shape = index_shape(self._shape, indices)
    if broadcast_or_none(values._shape, shape) != shape:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {show(values._shape)} cannot be broadcast to "
            f"indexing result of shape {show(shape)}"
        )
    if values._dtype is not self._dtype:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {self._dtype.label} "
            f"for the destination and {values._dtype.label} for the source."
        )
    return rules.same(self)


def broadcast_or_none(a: Shape, b: Shape) -> Shape | None:
    """Shape in which two shapes meet, or None."""
    try:
        return broadcast_all((a, b))
    except RuntimeError:
        return None


op(
    "_index_put_positions(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    doc="A copy of ``input`` with values put (or added) at integer positions.",
    rule=_index_put_rule,
    grad={
        "self": lambda g, self, indices, values, accumulate: (
            g if accumulate else fn._index_put_positions(g, indices, g.new_zeros(()), False)
        ),
        "values": lambda g, indices, values_shape: _sum_values(g, indices, values_shape),
    },
    decomposition=lambda self, indices, values, accumulate=False: (
        self.clone()._index_put_positions_(indices, values, accumulate)
    ),
    inplace=True,
    inplace_primitive=True,
    crosses_devices=True,
    namespaces=("torch", "Tensor"),
)


def _sum_values(g: Any, indices: Any, shape: Shape) -> Any:
    from ..autograd.conform import sum_to

    return sum_to(fn._index_positions(g, indices), shape)


op(
    "index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)",
    doc="Put values at the positions that index tensors give; ``accumulate`` adds them.",
    decomposition=lambda self, indices, values, accumulate=False: self._index_put_positions_(
        integer_indices(self, indices), values, accumulate
    ),
    crosses_devices=True,
    namespaces=("Tensor",),
)
op(
    "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    doc="A copy with values put at the positions that index tensors give.",
    decomposition=lambda self, indices, values, accumulate=False: fn._index_put_positions(
        self, integer_indices(self, indices), values, accumulate
    ),
)
op(
    "nonzero(Tensor self) -> Tensor",
    doc="Positions of non-zero elements, one row each.",
    grad=NONDIFF,
    primitive=True,
    data_dependent=True,
)
op(
    "nonzero.as_tuple(Tensor self, *, bool as_tuple) -> Tensor[]",
    doc="Positions of non-zero elements, a tensor per dimension if ``as_tuple``.",
    decomposition=lambda self, *, as_tuple: _nonzero(self, as_tuple),
)


def _nonzero(self: Tensor, as_tuple: bool) -> Any:
    found = fn.nonzero(self if self._shape or not as_tuple else self.unsqueeze(0))
    return found.unbind(1) if as_tuple else found


op(
    "masked_select(Tensor self, Tensor mask) -> Tensor",
    doc="Elements where the mask holds, in one dimension.",
    decomposition=lambda self, mask: _masked_select(self, mask),
)


def _masked_select(self: Tensor, mask: Tensor) -> Tensor:
    if mask._dtype is not bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = broadcast_all((self._shape, mask._shape))
    return _index(self.expand(shape), [mask.expand(shape)])


# ---- along a dimension --------------------------------------------------------------------------


def _take_rule(self: Tensor, index: Tensor) -> TensorSpec:
    if index._dtype is not int64:
        raise RuntimeError(
            f"take(): Expected a long tensor for index, but got {index._dtype.label}"
        )
    if numel(index._shape) and not numel(self._shape):
        raise IndexError("take(): tried to take from an empty tensor")
    return TensorSpec(index._shape, self._dtype)


def _take(self: Tensor, index: Tensor) -> Tensor:
    _take_rule(self, index)
    count = numel(self._shape)
    try:
        return fn._index_positions(self.reshape(-1), [index]).contiguous()
    except IndexError:
        outside = index[(index < -count) | (index >= count)]
    raise IndexError(
        f"out of range: tried to access index {outside[0].item()} on a tensor of {count} elements."
    )


def _take_grad(g: Any, self_shape: Shape, index: Any) -> Any:
    flat = g.new_zeros((numel(self_shape),))
    return fn._index_put_positions(flat, [index], g, True).view(self_shape)


op(
    "take(Tensor self, Tensor index) -> Tensor",
    doc="Elements at positions in the tensor read as one row.",
    rule=_take_rule,
    grad={"self": _take_grad},
    decomposition=_take,
    out=True,
)


def _check_index(name: str, index: Tensor) -> None:
    if index._dtype.name not in ("int64", "int32"):
        raise RuntimeError(
            f"{name}(): Expected dtype int32/int64 for index, got {index._dtype.label}"
        )


def _gather(self: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> TensorSpec:
    at = wrap_dim(dim, len(self._shape))
    _check_index("gather", index)
    if len(index._shape) != len(self._shape) and numel(index._shape):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for i, (n, have) in enumerate(zip(index._shape, self._shape, strict=True)):
        if i != at and n > have:
            raise RuntimeError(
                f"Size does not match at dimension {i} expected index {show(index._shape)} to be no "
                f"larger than self {show(self._shape)} apart from dimension {at}"
            )
    return TensorSpec(index._shape, self._dtype)


op(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    doc="Elements picked along a dimension: ``out[i][j] = input[index[i][j]][j]`` for ``dim=0``.",
    rule=_gather,
    grad={
        "self": lambda g, self_shape, dim, index: g.new_zeros(self_shape).scatter_add(dim, index, g)
    },
    primitive=True,
    out=True,
)


def _scatter_rule(self: Tensor, dim: int, index: Tensor, src: Any) -> TensorSpec:
    at = wrap_dim(dim, len(self._shape))
    _check_index("scatter", index)
    if len(index._shape) != len(self._shape):
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    if hasattr(src, "_keys") and src._dtype is not self._dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    for i, n in enumerate(index._shape):
        if (i != at and n > self._shape[i]) or (hasattr(src, "_keys") and n > src._shape[i]):
            raise RuntimeError(
                f"Expected index {show(index._shape)} to be no larger than self {show(self._shape)} "
                f"apart from dimension {at} and to be no larger size than src "
                f"{show(getattr(src, '_shape', ()))}"
            )
    return TensorSpec(self._shape, self._dtype)


op(
    "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    doc="A copy of ``input`` with elements of ``src`` added at positions along a dimension.",
    rule=_scatter_rule,
    grad={
        "self": lambda g: g,
        "src": lambda g, dim, index, src_shape: _fit(g.gather(dim, index), src_shape),
    },
    primitive=True,
    inplace=True,
)
op(
    "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    doc="A copy of ``input`` with elements of ``src`` put at positions along a dimension.",
    rule=_scatter_rule,
    grad={
        "self": lambda g, dim, index: g.scatter(dim, index, 0),
        "src": lambda g, dim, index, src_shape: _fit(g.gather(dim, index), src_shape),
    },
    primitive=True,
    inplace=True,
)
op(
    "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    doc="A copy of ``input`` with one value put at positions along a dimension.",
    rule=_scatter_rule,
    grad={"self": lambda g, dim, index: g.scatter(dim, index, 0)},
    decomposition=lambda self, dim, index, value: self.scatter(
        dim, index, self.new_full(index._shape, value)
    ),
    inplace=True,
)


def _fit(g: Tensor, shape: Shape) -> Tensor:
    """Pad a gradient with zeros up to the shape of a source of which only a corner was used."""
    if g._shape == shape:
        return g
    whole = g.new_zeros(shape)
    part = whole
    for d, n in enumerate(g._shape):
        part = part.narrow(d, 0, n)
    part.copy_(g)
    return whole


def _index_select(self: Tensor, dim: int, index: Tensor) -> TensorSpec:
    at = wrap_dim(dim, len(self._shape))
    if len(index._shape) > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    _check_index("index_select", index)
    n = numel(index._shape)
    if not self._shape:
        if n != 1:
            raise RuntimeError(
                f"index_select(): Index to scalar can have only 1 value, got {n} value(s)"
            )
        return TensorSpec((), self._dtype)
    return TensorSpec((*self._shape[:at], n, *self._shape[at + 1 :]), self._dtype)


op(
    "index_select(Tensor self, int dim, Tensor index) -> Tensor",
    doc="Slices along a dimension, at the positions in a vector.",
    rule=_index_select,
    grad={
        "self": lambda g, self_shape, dim, index: g.new_zeros(self_shape).index_add(dim, index, g)
    },
    primitive=True,
    out=True,
)


def _index_add_rule(
    self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1
) -> TensorSpec:
    at = wrap_dim(dim, len(self._shape))
    _check_index("index_add_", index)
    if len(index._shape) > 1:
        raise IndexError("index_add_(): Index is supposed to be a vector")
    if source._dtype is not self._dtype:
        raise RuntimeError("index_add_(): self and source expected to have the same scalar type")
    if self._shape:
        want = (*self._shape[:at], numel(index._shape), *self._shape[at + 1 :])
        if source._shape != want:
            raise RuntimeError(
                f"source tensor shape must match self tensor shape, excluding the specified "
                f"dimension. Got self.shape = {show(self._shape)} source.shape = {show(source._shape)}"
            )
    return TensorSpec(self._shape, self._dtype)


op(
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    doc="A copy of ``input`` with slices of ``source`` added at positions along a dimension.",
    rule=_index_add_rule,
    grad={
        "self": lambda g: g,
        "source": lambda g, dim, index, alpha: (
            g.index_select(dim, index) if alpha == 1 else g.index_select(dim, index) * alpha
        ),
    },
    primitive=True,
    inplace=True,
)


def _embedding_rule(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, *_: Any, **__: Any
) -> TensorSpec:
    if len(weight._shape) != 2:
        raise RuntimeError("'weight' must be 2-D")
    _check_index("embedding", indices)
    return TensorSpec((*indices._shape, weight._shape[1]), weight._dtype)


def _embedding(weight: Tensor, indices: Tensor, padding_idx: int = -1) -> Tensor:
    spec = _embedding_rule(weight, indices)
    return weight.index_select(0, indices.reshape(-1)).view(spec.shape)


def _embedding_grad(g: Any, weight_shape: Any, indices: Any, padding_idx: int) -> Any:
    rows = g.reshape(-1, weight_shape[1])
    flat = indices.reshape(-1)
    if padding_idx >= 0:
        rows = rows * (flat != padding_idx).unsqueeze(1)
    return g.new_zeros(weight_shape).index_add(0, flat, rows)


op(
    "embedding(Tensor weight, Tensor indices, int padding_idx=-1) -> Tensor",
    doc="Rows of ``weight`` (num_embeddings, dim) at integer indices; ``padding_idx`` gets no gradient.",
    rule=_embedding_rule,
    grad={"weight": _embedding_grad},
    decomposition=_embedding,
    namespaces=("torch",),
)


def _nn_embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    rows = weight._shape[0]
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    at = -1 if padding_idx is None else padding_idx % rows
    return fn.embedding(weight, input, at)


op(
    "nn_embedding(Tensor input, Tensor weight, int? padding_idx=None) -> Tensor",
    doc="Rows of ``weight`` at the indices in ``input``.",
    decomposition=_nn_embedding,
    namespaces=("nn:embedding",),
)
