"""Joining tensors: one after another along a dimension, old or new."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...opdefs.rules import format_of_all, laid
from ...tensors.tensor import Tensor
from ...values.memory_formats import contiguous_format, memory_format, suggested
from ...values.promotion import result_type
from ...values.shapes import show, view_strides, wrap_dim


def _refuse_one(name: str, tensors: Any) -> None:
    """A tensor is no sequence of tensors, although it can be iterated."""
    if isinstance(tensors, Tensor):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor"
        )


def _cat_rule(tensors: Sequence[Tensor], dim: int = 0) -> TensorSpec:
    _refuse_one("cat", tensors)
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for i, t in enumerate(tensors):
        if not t._shape:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    kept = [(i, t) for i, t in enumerate(tensors) if t._shape != (0,)] or [(0, tensors[0])]
    first = kept[0][1]._shape
    at = wrap_dim(dim, len(first))
    total = 0
    for i, t in kept:
        if len(t._shape) != len(first):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {len(t._shape)}"
            )
        for i_dim, n in enumerate(t._shape):
            if i_dim != at and n != first[i_dim]:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {at}. Expected size {first[i_dim]} "
                    f"but got size {n} for tensor number {i} in the list."
                )
        total += t._shape[at]
    d = tensors[0]._dtype
    if any(t._dtype is not d for t in tensors):
        d = result_type(*tensors)
    return laid((*first[:at], total, *first[at + 1 :]), d, format_of_all(tensors))


def _cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    spec = _cat_rule(tensors, dim)
    like: Any = tensors[0]
    if spec.strides is None:
        made: Tensor = like.new_empty(spec.shape, dtype=spec.dtype)
    else:
        made = like.new_empty_strided(spec.shape, spec.strides, dtype=spec.dtype)
    start = 0
    for t in tensors:
        if t._shape != (0,):
            length = t._shape[wrap_dim(dim, len(t._shape))]
            made.narrow(dim, start, length).copy_(t)
            start += length
    return made


def _cat_grad(g: Any, tensors_shape: Any, tensors_dtype: Any, dim: int) -> list[Any]:
    out, start = [], 0
    for shape, d in zip(tensors_shape, tensors_dtype, strict=True):
        if shape == (0,):
            out.append(g.new_zeros((0,)))
            continue
        length = shape[wrap_dim(dim, len(shape))]
        out.append(g.narrow(dim, start, length).to(d))
        start += length
    return out


op(
    "cat(Tensor[] tensors, int dim=0) -> Tensor",
    doc="Tensors one after another along an existing dimension.",
    rule=_cat_rule,
    grad={"tensors": _cat_grad},
    decomposition=_cat,
    out=True,
    out_needs=("apart", "cast"),
    namespaces=("torch",),
)
for _alias in ("concat", "concatenate"):
    op(
        f"{_alias}(Tensor[] tensors, int dim=0) -> Tensor",
        doc="Alias of `cat`.",
        decomposition=lambda tensors, dim=0: fn.cat(tensors, dim),
        out=True,
        out_needs=("apart", "cast"),
        namespaces=("torch",),
    )


def _stack_rule(tensors: Sequence[Tensor], dim: int = 0) -> TensorSpec:
    _refuse_one("stack", tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tensors[0]._shape
    for i, t in enumerate(tensors):
        if t._shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {show(first)} at entry 0 and "
                f"{show(t._shape)} at entry {i}"
            )
    at = wrap_dim(dim, len(first) + 1)
    if at == len(first):
        d = tensors[0]._dtype
        if any(t._dtype is not d for t in tensors):
            d = result_type(*tensors)
        return laid((*first, len(tensors)), d, _format_of_columns(tensors))
    whole = _cat_rule(tensors, at)
    shape = (*first[:at], len(tensors), *first[at:])
    if whole.strides is None:
        return TensorSpec(shape, whole.dtype)
    return TensorSpec(shape, whole.dtype, view_strides(whole.shape, whole.strides, shape))


def _format_of_columns(tensors: Sequence[Tensor]) -> memory_format:
    """The memory format of tensors with one more dimension behind."""
    if len(tensors[0]._shape) < 3:
        return contiguous_format
    found = {suggested((*t._shape, 1), (*t._geometry()[0], 1)) for t in tensors}
    return found.pop() if len(found) == 1 else contiguous_format


def _stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    shape = _stack_rule(tensors, dim).shape
    at = wrap_dim(dim, len(shape))
    if at == len(shape) - 1:
        return fn.cat([t.unsqueeze(at) for t in tensors], at)
    made: Tensor = fn.cat(tensors, at).view(shape)
    made._base = None  # nobody has what it is a view of
    return made


def _stack_grad(g: Any, tensors_dtype: Any, dim: int) -> list[Any]:
    return [part.to(d) for part, d in zip(g.unbind(dim), tensors_dtype, strict=True)]


op(
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    doc="Tensors one after another along a new dimension.",
    rule=_stack_rule,
    grad={"tensors": _stack_grad},
    decomposition=_stack,
    out=True,
    namespaces=("torch",),
    out_needs=("cast",),
)
