"""Moving results into the tensors that were handed out for them."""

from __future__ import annotations

import reprlib
from typing import Any, Final

from ..dispatch.dispatcher import dispatch
from ..dispatch.keys import AUTOGRAD, CONJUGATE, MASKS, NEGATIVE, DispatchKey, with_masks
from ..tensors.storage import held_once
from ..tensors.tensor import Tensor
from ..values.containers import filled
from ..values.devices import device
from ..values.dtypes import dtype
from ..values.shapes import Shape, contiguous_strides, numel, show
from .trace import RecordedOp

__all__ = ["laid_out", "mismatch", "move", "plain", "settle"]

KERNEL: Final = "the kernel"
# What is copied for a layout is no op of the user's: nothing records it.
_BELOW: Final = ~int(AUTOGRAD | DispatchKey.Pipeline | DispatchKey.Python)
_UNRESOLVED: Final = int(CONJUGATE | NEGATIVE)


def settle(op: RecordedOp, outs: tuple[Tensor, ...], result: Any, by: str = KERNEL) -> None:
    """Move what an op's kernel gave into the tensors that were handed out for it.

    What has a value already has it from a launch that was interrupted right after.

    Args:
        op: the op.
        outs: the tensors.
        result: what it gave.
        by: who gave it; a plan may give None for parts that nobody can see.

    Raises:
        RuntimeError: if it is not of the shape and dtype that the op's rule had said.
    """
    if result is None and op.writes:
        return
    results = result if isinstance(result, tuple | list) else (result,)
    if len(results) != len(outs):
        results = [r for r in results if isinstance(r, Tensor)]
    if len(results) != len(outs):
        raise RuntimeError(f"{by} gave {len(results)} results where there are {len(outs)}")
    for t, r in zip(outs, results, strict=True):
        if r is None and by != KERNEL:
            continue
        if r is not t and (t._payload is None or op.writes or op.view):
            move(t, r, by)


def move(t: Tensor, r: Any, by: str = KERNEL) -> None:
    """Give a tensor the payload of a result; where several slots change, nothing comes between."""
    shape = t._shape
    if (
        not isinstance(r, Tensor)
        or r._shape != shape
        or r._dtype is not t._dtype
        or r._device is not t._device
    ):
        raise mismatch(r, shape, t._dtype, t._device, by)
    s = t._storage
    if s is None or s.memory is not None:  # a view, over memory that is there
        t._payload = r._payload
        return
    # A part of another memory, for instance.
    if len(shape) > 1 or r._storage is not None or r._strided is not None:
        strides = contiguous_strides(shape) if t._strided is None else t._strided[0]
        if r._geometry() != (strides, 0) and numel(shape):
            r = laid_out(r, strides)
    if not s.version and held_once(t, 1):
        # Nobody shares the storage that was handed out; the result may have none at all.
        own = r._storage
        if own is not None:
            own.version = 0
        t._storage, t._payload = own, r._payload
        return
    own = r._own_storage()
    s.memory, s.size_bytes, t._payload = own.memory, own.size_bytes, r._payload


def mismatch(r: Any, shape: Shape, d: dtype, on: device, by: str = KERNEL) -> RuntimeError:
    """The error for a result that is not what was promised."""
    if isinstance(r, Tensor) and r._shape == shape and r._dtype is d:
        return RuntimeError(f"{by} gave a tensor on {r._device} where one on {on} was promised")
    gave = f"{show(r._shape)} {r._dtype}" if isinstance(r, Tensor) else _shown(r)
    return RuntimeError(f"{by} gave {gave} where its meta function had said {show(shape)} {d}")


def laid_out(r: Tensor, strides: Shape) -> Any:
    """A copy of a result in the strides that were promised."""
    return with_masks(0, MASKS.keep & _BELOW, _copied, r, strides)


def plain(r: Any) -> Any:
    """A result whose memory holds its numbers, not their conjugates or negatives; others as they are."""
    if isinstance(r, list | tuple):
        return filled(type(r), map(plain, r))
    if isinstance(r, Tensor) and r._keys & _UNRESOLVED:
        return laid_out(r, r._geometry()[0])
    return r


def _copied(r: Tensor, strides: Shape) -> Any:
    on, d = r._device, r._dtype
    made = dispatch("empty_strided", on, r._shape, strides, dtype=d, device=on)
    return dispatch("copy_", None, made, r)


def _shown(value: Any) -> str:
    """What is no tensor: an array by its shape and dtype."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{type(value).__name__} of shape {[*value.shape]}, {value.dtype}"
    return reprlib.repr(value)
