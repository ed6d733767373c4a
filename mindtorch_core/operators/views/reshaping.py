"""Views: ops whose result shares the first argument's memory.

Rules give the geometry; one kernel, made here from the rule, serves every backend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dispatch.opdef import TensorSpec
from ...gradients.conform import sum_to
from ...opdefs.define import op
from ...tensors.making import make_view, sole
from ...tensors.tensor import Tensor
from ...values.memory_formats import contiguous_format, has_format, memory_format, preserve_format
from ...values.shapes import (
    broadcast_all,
    expand_strides,
    infer_size,
    is_contiguous,
    numel,
    show,
    view_strides,
    wrap_dim,
    wrap_dims,
)


def view(schema: str, doc: str, rule: Any, grad: Any, **more: Any) -> None:
    """Define a view op from the rule that gives its geometry."""

    def kernel(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        spec = rule(self, *args, **kwargs)
        strides = spec.strides if spec.strides is not None else self._geometry()[0]
        return make_view(self, spec.shape, strides, spec.offset, spec.dtype)

    op(schema, doc=doc, rule=rule, grad={"self": grad}, decomposition=kernel, view=True, **more)


def spec(self: Tensor, shape: Any, strides: Any, offset: int | None = None) -> TensorSpec:
    """Geometry of a view of ``self``."""
    at = self._geometry()[1] if offset is None else offset
    return TensorSpec(tuple(shape), self._dtype, tuple(strides), at)


def _view(self: Tensor, size: Sequence[int]) -> TensorSpec:
    new = infer_size(size, numel(self._shape))
    strides = view_strides(self._shape, self._geometry()[0], new)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension "
            "spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return spec(self, new, strides)


view(
    "alias(Tensor(a) self) -> Tensor(a)",
    "The same elements as another tensor, in the same memory.",
    lambda self: spec(self, self._shape, self._geometry()[0]),
    lambda g: g,
    namespaces=(),
)
view(
    "view(Tensor(a) self, int[] size) -> Tensor(a)",
    "The same elements in another shape, without copying; one size may be -1.",
    _view,
    lambda g, self_shape: g.reshape(self_shape),
    varargs="size",
    namespaces=("Tensor",),
)
op(
    "view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
    doc="The same bytes read as another dtype; the last dimension's size changes with the element's.",
    decomposition=lambda self, dtype: _view_dtype(self, dtype),
    namespaces=("Tensor",),
)


def _view_dtype(self: Tensor, dtype: Any) -> Tensor:
    shape, (strides, offset) = self._shape, self._settled()._geometry()
    old, new = self._dtype.itemsize, dtype.itemsize
    if old != new:
        what = f"to view {self._dtype.label} as {dtype.label} (different element sizes)"
        if not shape:
            raise RuntimeError(f"self.dim() cannot be 0 {what}")
        if strides[-1] != 1:
            raise RuntimeError(f"self.stride(-1) must be 1 {what}, but got {strides[-1]}")
        named = {"size(-1)": shape[-1], "storage_offset()": offset}
        named |= {f"stride({i})": step for i, step in enumerate(strides[:-1])}
        for name, n in named.items():
            if n * old % new:
                raise RuntimeError(
                    f"self.{name} must be divisible by {new // old} {what}, but got {n}"
                )
        shape = (*shape[:-1], shape[-1] * old // new)
        strides = (*(s * old // new for s in strides[:-1]), 1)
        offset = offset * old // new
    return make_view(self, shape, strides, offset, dtype)


def _reshape(self: Tensor, shape: Sequence[int]) -> Tensor:
    new = infer_size(shape, numel(self._shape))
    if view_strides(self._shape, self._geometry()[0], new) is None:
        return sole(self.clone(memory_format=contiguous_format).view(new))
    return self.view(new)


op(
    "reshape(Tensor(a) self, int[] shape) -> Tensor(a)",
    doc="The same elements in another shape: a view where strides allow it, a copy otherwise.",
    grad={"self": lambda g, self_shape: g.reshape(self_shape)},
    node_names=("ViewBackward0",),
    decomposition=_reshape,
    varargs="shape",
)
op(
    "view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    doc="View in the shape of ``other``.",
    decomposition=lambda self, other: self.view(other._shape),
    namespaces=("Tensor",),
)
op(
    "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    doc="Reshape to the shape of ``other``.",
    decomposition=lambda self, other: self.reshape(other._shape),
    namespaces=("Tensor",),
)


def _flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    rank = len(self._shape)
    start, end = wrap_dim(start_dim, rank), wrap_dim(end_dim, rank)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not rank:
        return self.reshape(1)
    if start == end:
        return self
    middle = numel(self._shape[start : end + 1])
    return self.reshape(*self._shape[:start], middle, *self._shape[end + 1 :])


op(
    "flatten(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
    overloads=("using_ints",),
    doc="Join the dimensions from ``start_dim`` to ``end_dim`` into one.",
    decomposition=_flatten,
)


def _unflatten(self: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    at = wrap_dim(dim, len(self._shape))
    if not self._shape:
        raise RuntimeError(f"unflatten: dimension {dim} of a tensor without dimensions")
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    try:
        part = infer_size(sizes, self._shape[at])
    except RuntimeError as error:
        raise RuntimeError(
            f"unflatten: Provided sizes {show(sizes)} don't multiply up to the size of dim {at} "
            f"({self._shape[at]}) in the input tensor: {error}"
        ) from None
    return self.view(*self._shape[:at], *part, *self._shape[at + 1 :])


op(
    "unflatten(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)",
    overloads=("int",),
    doc="Split a dimension into several.",
    decomposition=_unflatten,
)

# ---- order of dimensions ------------------------------------------------------------------------


def _transpose(self: Tensor, dim0: int, dim1: int) -> TensorSpec:
    rank = len(self._shape)
    a, b = wrap_dim(dim0, rank), wrap_dim(dim1, rank)
    shape, strides = list(self._shape), list(self._geometry()[0])
    if rank:
        shape[a], shape[b] = shape[b], shape[a]
        strides[a], strides[b] = strides[b], strides[a]
    return spec(self, shape, strides)


view(
    "transpose(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    "Two dimensions exchanged.",
    _transpose,
    lambda g, dim0, dim1: g.transpose(dim0, dim1),
    overloads=("int",),
)


for _name, _what in (("swapaxes", "axis"), ("swapdims", "dim")):
    op(
        f"{_name}(Tensor(a) self, int {_what}0, int {_what}1) -> Tensor(a)",
        doc="Alias of `transpose`.",
        decomposition=lambda self, first, second: self.transpose(first, second),
    )


def _permute(self: Tensor, dims: Sequence[int]) -> TensorSpec:
    rank = len(self._shape)
    if len(dims) != rank:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length "
            f"of the desired ordering of dimensions i.e. input.dim() = {rank} is not equal to "
            f"len(dims) = {len(dims)}".replace("(sparse_coo)", "")
        )
    order = [wrap_dim(d, rank) for d in dims]
    if len(set(order)) != rank:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    strides = self._geometry()[0]
    return spec(self, (self._shape[d] for d in order), (strides[d] for d in order))


def _permute_back(g: Any, dims: Any) -> Any:
    back = [0] * len(dims)
    for i, d in enumerate(dims):
        back[d] = i
    return g.permute(back)


view(
    "permute(Tensor(a) self, int[] dims) -> Tensor(a)",
    "Dimensions in the given order.",
    _permute,
    _permute_back,
    varargs="dims",
)


def _t(self: Tensor) -> TensorSpec:
    if len(self._shape) > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {len(self._shape)}D"
        )
    return spec(self, self._shape[::-1], self._geometry()[0][::-1])


view("t(Tensor(a) self) -> Tensor(a)", "Transpose of a matrix.", _t, lambda g: g.t())


def _movedim(self: Tensor, source: Sequence[int], destination: Sequence[int]) -> Tensor:
    rank = len(self._shape)
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({show(source)} dims) should contain "
            f"the same number of dims as destination ({show(destination)} dims)"
        )
    moved, places = ([wrap_dim(d, rank) for d in dims] for dims in (source, destination))
    for name, dims, given in (("source", moved, source), ("destination", places, destination)):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({show(given)})")
    if not rank:
        return self.view(())
    at = dict(zip(places, moved, strict=True))
    others = iter([d for d in range(rank) if d not in moved])
    return self.permute([at[i] if i in at else next(others) for i in range(rank)])


for _name in ("movedim", "moveaxis"):
    op(
        f"{_name}(Tensor(a) self, int source, int destination) -> Tensor(a)",
        overloads=("int",),
        doc="One dimension moved to another place.",
        decomposition=lambda self, source, destination: _movedim(self, [source], [destination]),
    )
    op(
        f"{_name}.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
        doc="Dimensions moved to other places; the others keep their order.",
        decomposition=_movedim,
    )


# ---- sizes of dimensions ------------------------------------------------------------------------


def _expand(self: Tensor, size: Sequence[int], *, implicit: bool = False) -> TensorSpec:
    shape, strides = expand_strides(self._shape, self._geometry()[0], size, self._dtype)
    return spec(self, shape, strides)


view(
    "expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)",
    "Dimensions of size 1 repeated without copying; -1 keeps a size.",
    _expand,
    lambda g, self_shape: sum_to(g, self_shape),
    varargs="size",
    namespaces=("Tensor",),
)
op(
    "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    doc="Expand to the shape of ``other``.",
    decomposition=lambda self, other: self.expand(other._shape),
    namespaces=("Tensor",),
)
op(
    "broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)",
    doc="Expand to a shape.",
    decomposition=lambda self, size: self.expand(size),
    varargs="size",
)


def _broadcast_tensors(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    shape = broadcast_all(t._shape for t in tensors)
    return tuple(t.expand(shape) for t in tensors)


op(
    "broadcast_tensors(Tensor[] tensors) -> Tensor[]",
    doc="Tensors expanded to the shape in which they meet.",
    decomposition=_broadcast_tensors,
    varargs="tensors",
    namespaces=("torch",),
)


def _squeezed(self: Tensor, dims: set[int]) -> TensorSpec:
    strides = self._geometry()[0]
    keep = [i for i, n in enumerate(self._shape) if n != 1 or i not in dims]
    return spec(self, (self._shape[i] for i in keep), (strides[i] for i in keep))


view(
    "squeeze(Tensor(a) self) -> Tensor(a)",
    "Without any dimension of size 1.",
    lambda self: _squeezed(self, set(range(len(self._shape)))),
    lambda g, self_shape: g.reshape(self_shape),
)
view(
    "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
    "Without one dimension, if it is of size 1.",
    lambda self, dim: _squeezed(self, {wrap_dim(dim, len(self._shape))}),
    lambda g, self_shape: g.reshape(self_shape),
)
view(
    "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
    "Without those of the given dimensions that are of size 1.",
    lambda self, dim: _squeezed(self, set(wrap_dims(dim, len(self._shape))) if dim else set()),
    lambda g, self_shape: g.reshape(self_shape),
    node_names=("SqueezeBackward2",),
    varargs="dim",
)


def _unsqueeze(self: Tensor, dim: int) -> TensorSpec:
    at = wrap_dim(dim, len(self._shape) + 1)
    strides = self._geometry()[0]
    step = self._shape[at] * strides[at] if at < len(self._shape) else 1
    return spec(
        self, (*self._shape[:at], 1, *self._shape[at:]), (*strides[:at], step, *strides[at:])
    )


view(
    "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
    "With a dimension of size 1 put in.",
    _unsqueeze,
    lambda g, dim: g.squeeze(dim),
)


def _contiguous(self: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
    if memory_format is None:
        if is_contiguous(self._shape, self._geometry()[0]):
            return self
        return self.clone(memory_format=contiguous_format)
    if has_format(self._shape, self._geometry()[0], memory_format):
        return self
    if memory_format is preserve_format:
        raise RuntimeError(
            "preserve memory format is unsupported by the contiguous operator: name the format"
        )
    return self.clone(memory_format=memory_format)


op(
    "contiguous(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)",
    doc="The tensor itself if it is dense in a memory format, row-major by default; else a copy.",
    decomposition=_contiguous,
    namespaces=("Tensor",),
)
