"""Picking and placing along a dimension: gather, scatter, index_select, index_add."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.devices import row_of
from ...values.dtypes import INDEX_DTYPES, INTEGER, checked_number, int64
from ...values.memory_formats import contiguous_format
from ...values.shapes import Shape, numel, show, wrap_dim
from ...values.user_warnings import warn_user_once


def _check_index(name: str, index: Tensor) -> None:
    if index._dtype not in INDEX_DTYPES:
        raise RuntimeError(
            f"{name}(): Expected dtype int32/int64 for index, got {index._dtype.label}"
        )


def _gather(self: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> TensorSpec:
    at = wrap_dim(dim, len(self._shape))
    if not numel(index._shape):
        return TensorSpec(index._shape, self._dtype)
    _check_index("gather", index)
    if (len(index._shape) or 1) != (len(self._shape) or 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for i, (n, have) in enumerate(zip(index._shape, self._shape, strict=False)):
        if i != at and n > have:
            raise RuntimeError(
                f"Size does not match at dimension {i} expected index {show(index._shape)} to be no "
                f"larger than self {show(self._shape)} apart from dimension {at}"
            )
    return TensorSpec(index._shape, self._dtype)


def check_range(
    name: str, index: Tensor, size: int, dim: int, kind: type[Exception] = RuntimeError
) -> None:
    """Refuse an index that is out of range; negative ones do not wrap here.

    Raises:
        Exception: of the given kind, naming the value, dimension and size.
    """
    if not numel(index._shape) or not row_of(index._device.type).runtime.executes:
        return
    if bool(((index < 0) | (index >= size)).any()):
        bad = index[(index < 0) | (index >= size)][0].item()
        # PyTorch's words, which programs look for.
        begun = "index out of range in self: " if kind is IndexError else ""
        raise kind(
            f"{name}(): {begun}index {bad} is out of bounds for dimension {dim} with size {size}"
        )


def grid(index: Tensor, at: int) -> list[Tensor | None]:
    """Index tensors in which ``index`` runs along one dimension and the others count up."""
    rank = len(index._shape)
    found: list[Tensor | None] = []
    for d, n in enumerate(index._shape):
        counted = fn.arange(0, n, 1, dtype=int64, device=index._device)
        shape = [1] * rank
        shape[d] = n
        found.append(index.to(int64) if d == at else counted.view(shape))
    return found


def _gathered(self: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Any:
    shape = _gather(self, dim, index).shape
    if not numel(shape):
        return self.new_empty(shape)
    self, index = ranked(self), ranked(index)
    at = wrap_dim(dim, len(self._shape))
    check_range("gather", index, self._shape[at], at)
    found = fn._index_positions(self, grid(index, at)).reshape(shape)
    return found.contiguous()  # some backends lay results out as the positions are


def ranked(t: Tensor) -> Any:
    """A tensor with a dimension at least: one without counts as a vector of one element."""
    return t if t._shape else t.reshape(1)


def _scattered(self: Tensor, dim: int, index: Tensor, src: Tensor, accumulate: bool) -> Any:
    scatter_rule(self, dim, index, src)
    copied: Any = self.clone(memory_format=contiguous_format)
    if numel(index._shape):
        whole, index, src = ranked(copied), ranked(index), ranked(src)
        at = wrap_dim(dim, len(whole._shape))
        check_range("scatter_add" if accumulate else "scatter", index, whole._shape[at], at)
        whole._index_put_positions_(grid(index, at), cropped(src, index), accumulate)
    return copied


def cropped(src: Any, index: Tensor) -> Any:
    """The corner of a source that has the shape of the index."""
    if src._shape == index._shape:
        return src
    for d, n in enumerate(index._shape):
        src = src.narrow(d, 0, n)
    return src


op(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    doc="Elements picked along a dimension: ``out[i][j] = input[index[i][j]][j]`` for ``dim=0``.",
    rule=_gather,
    grad={
        "self": lambda g, self_shape, dim, index: g.new_zeros(self_shape).scatter_add(dim, index, g)
    },
    decomposition=_gathered,
    out=True,
    out_needs=("apart", "dtype"),
)


def scatter_rule(
    self: Tensor, dim: int, index: Tensor, src: Any, *, reduce: str = "", name: str = "scatter"
) -> TensorSpec:
    """What a scatter gives: the tensor's own shape.

    Raises:
        RuntimeError: if index or source do not fit.
    """
    at = wrap_dim(dim, len(self._shape))
    if reduce not in ("", "add", "multiply") and name == "scatter":
        raise RuntimeError(f"reduce argument must be either add or multiply, got {reduce}.")
    given = hasattr(src, "_keys")
    if given and src._dtype is not self._dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
    if not numel(index._shape):
        return TensorSpec(self._shape, self._dtype)
    _check_index(name, index)
    rank = len(index._shape) or 1
    if rank != (len(self._shape) or 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    if given and rank != (len(src._shape) or 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    have, source = self._shape or (1,), (src._shape or (1,)) if given else None
    for i, n in enumerate(index._shape):
        if (i != at and n > have[i]) or (source is not None and n > source[i]):
            raise RuntimeError(
                f"Expected index {show(index._shape)} to be no larger than self {show(self._shape)} "
                f"apart from dimension {at} and to be no larger size than src "
                f"{show(getattr(src, '_shape', ()))}"
            )
    return TensorSpec(self._shape, self._dtype)


op(
    "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    doc="A copy of ``input`` with elements of ``src`` added at positions along a dimension.",
    rule=scatter_rule,
    grad={
        "self": lambda g: g,
        "src": lambda g, dim, index, src_shape: fit(g.gather(dim, index), src_shape),
    },
    decomposition=lambda self, dim, index, src: _scattered(self, dim, index, src, True),
    inplace=True,
    out=True,
)
op(
    "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    doc="A copy of ``input`` with elements of ``src`` put at positions along a dimension.",
    rule=scatter_rule,
    grad={
        "self": lambda g, dim, index: g.scatter(dim, index, 0),
        "src": lambda g, dim, index, src_shape: fit(g.gather(dim, index), src_shape),
    },
    decomposition=lambda self, dim, index, src: _scattered(self, dim, index, src, False),
    inplace=True,
    out=True,
)
op(
    "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    doc="A copy of ``input`` with one value put at positions along a dimension.",
    rule=scatter_rule,
    grad={"self": lambda g, dim, index: g.scatter(dim, index, 0)},
    decomposition=lambda self, dim, index, value: self.scatter(
        dim, index, self.new_full(index._shape, value)
    ),
    node_names=("ScatterBackward1",),
    inplace=True,
    out=True,
)


def _combined(self: Tensor, dim: int, index: Tensor, src: Any, *, reduce: str) -> Any:
    scatter_rule(self, dim, index, src, reduce=reduce)
    if not hasattr(src, "_keys"):
        src = self.new_full(index._shape, src)
    else:
        warn_user_once(
            "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a "
            "future PyTorch release. Use torch.scatter_reduce instead for more reduction options."
        )
    if reduce == "add":
        return self.scatter_add(dim, index, src)
    return fn.scatter_reduce(self, dim, index, src, "prod")


for _overload, _argument in (("reduce", "Tensor src"), ("value_reduce", "Scalar value")):
    op(
        f"scatter.{_overload}(Tensor self, int dim, Tensor index, {_argument}, *, str reduce) -> Tensor",
        doc="A copy of ``input`` in which elements of ``src`` are added to those at positions along a "
        'dimension, or multiplied with them; ``reduce`` is ``"add"`` or ``"multiply"``.',
        decomposition=_combined,
        inplace=True,
        out=True,
    )


def fit(g: Tensor, shape: Shape) -> Tensor:
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
    at = wrap_dim(dim, len(self._shape))
    positions = index.reshape(-1).to(int64)
    check_range("index_select", positions, self._shape[at] if self._shape else 1, at, IndexError)
    if not self._shape:
        return self.clone()
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
    out_needs=("apart", "dtype"),
)


def _index_add_rule(
    self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1
) -> TensorSpec:
    at = wrap_dim(dim, len(self._shape))
    if alpha != 1 and self._dtype.category == INTEGER:
        checked_number(alpha, self._dtype)
    _check_index("index_add_", index)
    if len(index._shape) > 1:
        raise IndexError("index_add_(): Index is supposed to be a vector")
    if source._dtype is not self._dtype:
        raise RuntimeError("index_add_(): self and source expected to have the same scalar type")
    want = (*self._shape[:at], numel(index._shape), *self._shape[at + 1 :])
    if source._shape != (want if self._shape else ()) and (index._shape or source._shape):
        raise RuntimeError(
            f"source tensor shape must match self tensor shape, excluding the specified "
            f"dimension. Got self.shape = {show(self._shape)} source.shape = {show(source._shape)}"
        )
    return TensorSpec(self._shape, self._dtype)


def _index_added(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Any:
    _index_add_rule(self, dim, index, source, alpha=alpha)
    if self._dtype.category == INTEGER:
        alpha = checked_number(alpha, self._dtype)
    part: Any = source if alpha == 1 else source * alpha
    at = wrap_dim(dim, len(self._shape))
    positions = index.reshape(-1).to(int64)
    check_range("index_add", positions, self._shape[at] if self._shape else 1, at, IndexError)
    if not self._shape:
        return self + part.sum(dtype=self._dtype)
    copied: Any = self.clone(memory_format=contiguous_format)
    return copied._index_put_positions_([*[None] * at, positions], part, True)


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
    out=True,
)
