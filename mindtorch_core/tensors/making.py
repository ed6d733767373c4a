"""Tensors over memory that exists already: a backend's own, or that of another tensor."""

from __future__ import annotations

from typing import Any, Final
from weakref import ref

from ..dispatch.keys import AUTOGRAD
from ..values.devices import TABLE, concrete, device
from ..values.dtypes import dtype
from ..values.shapes import Shape, contiguous_strides, show, storage_extent
from .storage import Storage
from .tensor import Tensor, fresh, make_tensor

__all__ = ["make_view", "sole", "tensor_over", "view_around"]

_WITHOUT_AUTOGRAD: Final = ~int(AUTOGRAD)


def tensor_over(
    memory: Any,
    nbytes: int,
    shape: Shape,
    d: dtype,
    on: device,
    strides: Shape | None = None,
    offset: int = 0,
) -> Tensor:
    """Make a tensor over memory that exists already: nothing is allocated or copied.

    Args:
        memory: a handle, as the backend's ``Runtime.allocate`` returns them.
        nbytes: size of the memory.
        shape: the shape, as a plain tuple.
        d: dtype of the elements.
        on: the device the memory lies on.
        strides: in elements; None for row-major.
        offset: of the first element, in elements.

    Raises:
        RuntimeError: if elements would lie outside of the memory.
    """
    on = concrete(on)
    steps = contiguous_strides(shape) if strides is None else strides
    least = min((offset, *shape, *steps))
    if least < 0 or storage_extent(shape, steps, offset) * d.itemsize > nbytes:
        raise RuntimeError(
            f"a tensor of shape {show(shape)}, strides {steps}, offset {offset} and dtype {d} does not "
            f"lie in memory of {nbytes} bytes"
        )
    runtime = TABLE[on.type].runtime
    storage = Storage(memory, nbytes, on)
    data = runtime.payload(storage, shape, steps, offset, d)
    return make_tensor(data, shape, d, on, runtime.key, storage, (steps, offset))


def make_view(
    base: Tensor, shape: Shape, strides: Shape, offset: int, d: dtype | None = None
) -> Tensor:
    """Make a view of ``base``'s storage; strides and offset count elements of the view's dtype."""
    storage = base._own_storage()
    d = base._dtype if d is None else d
    row = TABLE[base._device.type]
    data = None
    if storage.memory is not None:  # else it is pending, and the view gets its payload at launch
        data = row.runtime.payload(storage, shape, strides, offset, d)
    view = make_tensor(
        data, shape, d, base._device, base._keys & _WITHOUT_AUTOGRAD, storage, (strides, offset)
    )
    view._base = base if base._base is None else base._base
    storage.add_view(view)
    return view


def view_around(base: Tensor, data: Any, shape: Shape, keys: int) -> Tensor:
    """Make a view of ``base`` around a payload over its memory that the backend has made already.

    Its geometry is what ``Runtime.layout`` says when it is needed.

    Args:
        base: the tensor that is viewed.
        data: what the backend's kernels find in ``view.raw_data``.
        shape: the view's, as a plain tuple.
        keys: ``Runtime.key`` of the device.
    """
    storage = base._storage
    if storage is None:
        storage = base.untyped_storage()
    r = fresh()
    r._payload = data
    r._shape = shape
    r._strided = None
    r._dtype = base._dtype
    r._device = base._device
    r._keys = keys
    r._storage = storage
    root = base._base
    r._base = base if root is None else root
    r._autograd = None
    views = storage.views  # as in `Storage.add_view`, without a call
    if views is None:
        storage.views = [ref(r)]
    elif len(views) < storage._prune_at:
        views.append(ref(r))
    else:
        storage.add_view(r)
    return r


def sole(view: Tensor) -> Tensor:
    """A view whose base nobody else has, such as a copy made for it: from now on it is no view."""
    view._base = None
    view._own_storage().views = None
    return view
