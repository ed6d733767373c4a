"""What is derived from an op beside the op itself: in-place and ``out=`` forms, named results."""

from __future__ import annotations

import warnings
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from ..dispatch.autocast_keys import AUTOCAST
from ..dispatch.keys import ADINPLACE, AUTOGRAD, MASKS, set_masks
from ..dispatch.registry import OpEntry, registry
from ..dtypes import dtype
from ..promotion import can_cast
from ..shapes import numel, pointwise_strides, show, storage_extent
from ..tensor import Tensor

__all__ = [
    "check_cast",
    "check_inplace_result",
    "inplace_fallback",
    "return_type",
    "write_out",
]


def check_inplace_result(self: Tensor, shape: tuple[int, ...], d: Any) -> None:
    """Refuse an in-place result that does not fit into ``self``.

    Raises:
        RuntimeError: if the broadcast shape or the promoted dtype is not ``self``'s.
    """
    if shape != self._shape:
        raise RuntimeError(
            f"output with shape {show(self._shape)} doesn't match the broadcast shape {show(shape)}"
        )
    check_cast(d, self._dtype)


def check_cast(d: dtype, to: dtype) -> None:
    """Refuse a dtype whose category is above the one that it would be stored in.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if not can_cast(d, to):
        raise RuntimeError(
            f"result type {d.label} can't be cast to the desired output type {to.label}"
        )


def inplace_fallback(name: str, *, recorded: bool) -> Callable[..., Any]:
    """The in-place form of an op for backends without a kernel of its own: compute, then copy.

    Args:
        name: the functional op.
        recorded: autograd records the computation and the copy, rather than the in-place op.
    """

    def inplace(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        from .define import front

        tracked = recorded and self._keys & AUTOGRAD
        source = self.clone() if tracked else self  # what formulas save must not change
        result = front(registry.entry(name))(source, *args, **kwargs)
        check_inplace_result(self, result._shape, result._dtype)
        copied: Tensor = front(registry.entry("copy_"))(self, result)
        return copied

    def below(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        kept = MASKS.include, MASKS.keep
        set_masks(kept[0], kept[1] & ~(AUTOGRAD | ADINPLACE))
        try:
            return inplace(self, *args, **kwargs)
        finally:
            set_masks(*kept)

    return inplace if recorded else below


def write_out(
    front: Callable[..., Any],
    out: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    elementwise: bool = False,
    needs: Sequence[str] = (),
) -> Any:
    """Serve ``out=``: compute, then write into the given tensors, resizing those of other shapes.

    Args:
        front: the op's function.
        out: the tensor, or tensors.
        args: of the call.
        kwargs: of the call.
        elementwise: whether outputs that share memory with inputs are refused.
        needs: as `OpDef.out_needs`.

    Raises:
        TypeError: if ``out`` is not a tensor (or not as many as there are results).
        RuntimeError: if autograd would have to record it, or dtype or device do not fit.

    Warns:
        UserWarning: if a tensor that has elements is resized.
    """
    outs = out if isinstance(out, tuple | list) else (out,)
    for each in outs:
        if not isinstance(each, Tensor):
            raise TypeError(
                f"{front.__name__}(): argument 'out' must be Tensor, not {type(each).__name__}"
            )
    from ..autograd.grad_mode import is_grad_enabled

    involved = [*args, *outs]
    if is_grad_enabled() and any(getattr(a, "_keys", 0) & AUTOGRAD for a in involved):
        raise RuntimeError(
            f"{front.__name__}(): functions with out=... arguments don't support automatic "
            f"differentiation, but one of the arguments requires grad."
        )
    if elementwise:
        _refuse_overlap(outs, args)
    if "requires_grad" in kwargs and len(outs) == 1:
        kwargs = _options_of(outs[0], kwargs)
    result = _without_autocast(front, args, kwargs)
    results = result if isinstance(result, tuple) else (result,)
    if len(results) != len(outs):
        raise TypeError(
            f"{front.__name__}(): expected {len(results)} tensors in 'out', got {len(outs)}"
        )
    for each, value in zip(outs, results, strict=True):
        if each._device is not value._device:
            raise RuntimeError(
                f"Expected out tensor to have device {value._device}, but got {each._device} instead"
            )
        if "dtype" in needs and value._dtype is not each._dtype:
            raise RuntimeError(
                f"Expected out tensor to have dtype {value._dtype}, but got {each._dtype} instead"
            )
        check_cast(value._dtype, each._dtype)
        if "apart" in needs:
            _refuse_sharing(each, numel(value._shape), args)
        if each._shape != value._shape:
            _resize_out(each, value)
        each.copy_(value)
    return out


def _refuse_overlap(outs: Sequence[Tensor], args: tuple[Any, ...]) -> None:
    """Refuse outputs that an element-wise op would change while it reads.

    Raises:
        RuntimeError: if one shares memory with an input, other than being the same elements, or shows
            some element several times.
    """
    from ..autograd.inplace import refuse_partners, refuse_shared

    for each in outs:
        if each._storage is not None:
            refuse_shared(each)
            refuse_partners(each, args)


def _refuse_sharing(out: Tensor, count: int, args: tuple[Any, ...]) -> None:
    """Refuse an output that shows an element several times, or lies where an input does.

    Args:
        out: the tensor, which is to hold ``count`` elements.
        count: number of elements of the result.
        args: of the call.

    Raises:
        RuntimeError: if it does.
    """
    from ..autograd.inplace import refuse_shared

    refuse_shared(out)
    inputs = [t for a in args for t in (a if isinstance(a, list | tuple) else (a,))]
    begin, end = _extent(out)
    if numel(out._shape) != count:  # after it has been resized
        end = begin + count * out._dtype.itemsize
    for t in inputs:
        if not isinstance(t, Tensor):
            continue
        if t is not out and (t._storage is None or t._storage is not out._storage):
            continue
        first, last = _extent(t)
        if t is out or (first < end and begin < last):
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to tensor "
                "refer to a single memory location. Please clone() the tensor before performing the "
                "operation."
            )


def _extent(t: Tensor) -> tuple[int, int]:
    """Where a tensor begins and ends in its storage, in bytes."""
    strides, offset = t._geometry()
    size = t._dtype.itemsize
    return offset * size, storage_extent(t._shape, strides, offset) * size


def _options_of(out: Tensor, kwargs: dict[str, Any]) -> dict[str, Any]:
    """A factory's options: it makes what it is to write.

    Raises:
        RuntimeError: if another dtype was asked for.
    """
    d = kwargs.get("dtype")
    if d is not None and d is not out._dtype:
        raise RuntimeError(f"dtype {d} does not match dtype of out parameter ({out._dtype})")
    return {**kwargs, "dtype": out._dtype, "device": kwargs.get("device") or out._device}


def _resize_out(out: Tensor, value: Tensor) -> None:
    """Give a tensor the shape and layout of the result that is written into it."""
    from .creation.resizing import resize

    if out.numel():
        warnings.warn(
            f"an output of shape {show(out._shape)} was resized, because the result has shape "
            f"{show(value._shape)}. Pass an output of that shape, or let an output t be resized "
            f"without this warning by emptying it first: t.resize_(0)",
            UserWarning,
            stacklevel=4,
        )
    strides = value._geometry()[0]
    resize(out, value._shape, pointwise_strides(value._shape, [(value._shape, strides)]))


def _without_autocast(
    front: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call an op with autocast off: what is written into a given tensor is not made less precise."""
    kept = MASKS.include, MASKS.keep
    set_masks(kept[0] & ~AUTOCAST, kept[1])
    try:
        return front(*args, **kwargs)
    finally:
        set_masks(*kept)


def return_type(entry: OpEntry) -> Callable[..., Any] | None:
    """A named tuple for ops with several named results, such as ``max(dim=...)``."""
    schema = entry.schema
    if schema is None or len(schema.returns) < 2 or not all(r.name for r in schema.returns):
        return None
    fields = [r.name for r in schema.returns]
    base = namedtuple(schema.name, fields)  # type: ignore[misc]

    def show_result(self: Any) -> str:
        inner = ",\n".join(f"{f}={getattr(self, f)!r}" for f in fields)
        return f"torch.return_types.{schema.name}(\n{inner})"

    made = type(schema.name, (base,), {"__slots__": (), "__repr__": show_result})
    return lambda result: made(*result)
