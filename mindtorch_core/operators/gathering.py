"""Picking and placing along a dimension: gather, scatter, index_select, index_add."""

from __future__ import annotations

from typing import Any

from ..dtypes import int64
from ..shapes import Shape, numel, show, wrap_dim
from ..tensor import Tensor
from .define import TensorSpec, fn, op


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


def _check_range(name: str, index: Tensor, size: int, dim: int) -> None:
    """Refuse an index that is out of range; negative ones do not wrap here."""
    if numel(index._shape) and bool(((index < 0) | (index >= size)).any()):
        bad = index[(index < 0) | (index >= size)][0].item()
        raise RuntimeError(
            f"{name}(): index {bad} is out of bounds for dimension {dim} with size {size}"
        )


def _grid(index: Tensor, at: int) -> list[Tensor | None]:
    """Index tensors in which ``index`` runs along one dimension and the others count up."""
    rank = len(index._shape)
    grid: list[Tensor | None] = []
    for d, n in enumerate(index._shape):
        counted = fn.arange(0, n, 1, dtype=int64, device=index._device)
        shape = [1] * rank
        shape[d] = n
        grid.append(index.to(int64) if d == at else counted.view(shape))
    return grid


def _gathered(self: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Any:
    spec = _gather(self, dim, index)
    if not self._shape or not numel(index._shape):
        return self.expand(spec.shape).clone() if not self._shape else self.new_empty(spec.shape)
    at = wrap_dim(dim, len(self._shape))
    _check_range("gather", index, self._shape[at], at)
    return fn._index_positions(self, _grid(index, at))


def _scattered(self: Tensor, dim: int, index: Tensor, src: Tensor, accumulate: bool) -> Any:
    _scatter_rule(self, dim, index, src)
    if not numel(index._shape):
        return self.clone()
    if not self._shape:
        return self + src if accumulate else src.clone()
    at = wrap_dim(dim, len(self._shape))
    _check_range("scatter_add" if accumulate else "scatter", index, self._shape[at], at)
    part = src
    for d, n in enumerate(index._shape):
        part = part.narrow(d, 0, n)
    return fn._index_put_positions(self, _grid(index, at), part, accumulate)


op(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    doc="Elements picked along a dimension: ``out[i][j] = input[index[i][j]][j]`` for ``dim=0``.",
    rule=_gather,
    grad={
        "self": lambda g, self_shape, dim, index: g.new_zeros(self_shape).scatter_add(dim, index, g)
    },
    decomposition=_gathered,
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
    decomposition=lambda self, dim, index, src: _scattered(self, dim, index, src, True),
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
    decomposition=lambda self, dim, index, src: _scattered(self, dim, index, src, False),
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


def _index_selected(self: Tensor, dim: int, index: Tensor) -> Any:
    _index_select(self, dim, index)
    if not self._shape:
        return self.clone()
    at = wrap_dim(dim, len(self._shape))
    positions = index.reshape(-1).to(int64)
    _check_range("index_select", positions, self._shape[at], at)
    return fn._index_positions(self, [*[None] * at, positions])


op(
    "index_select(Tensor self, int dim, Tensor index) -> Tensor",
    doc="Slices along a dimension, at the positions in a vector.",
    rule=_index_select,
    grad={
        "self": lambda g, self_shape, dim, index: g.new_zeros(self_shape).index_add(dim, index, g)
    },
    decomposition=_index_selected,
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


def _index_added(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Any:
    _index_add_rule(self, dim, index, source, alpha=alpha)
    part: Any = source if alpha == 1 else source * alpha
    if not self._shape:
        return self + part.sum(dtype=self._dtype)
    at = wrap_dim(dim, len(self._shape))
    positions = index.reshape(-1).to(int64)
    _check_range("index_add", positions, self._shape[at], at)
    return fn._index_put_positions(self, [*[None] * at, positions], part, True)


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
    decomposition=_index_added,
    inplace=True,
)
