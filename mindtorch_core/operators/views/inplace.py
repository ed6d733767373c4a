"""Tensors that become another view of their memory in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...dispatch.keys import AUTOGRAD, MASKS, DispatchKey, is_grad_enabled, with_masks
from ...frontend.pickling import is_storage
from ...gradients.duals import give, tangent_of
from ...gradients.inplace import refuse_leaves
from ...opdefs.define import EVERYWHERE, op
from ...tensors.storage import BEFORE_EXPORT, Storage
from ...tensors.tensor import Tensor
from ...values.devices import TABLE
from ...values.extents import check_within
from ...values.shapes import contiguous_strides

__all__: list[str] = []


def _launch_recorded() -> None:
    """Recorded ops may have to read what the tensor was."""
    for flush in BEFORE_EXPORT:
        flush()


def _become(self: Tensor, shown: Tensor) -> Tensor:
    """Take over the geometry and the history of a view of a tensor."""
    self._shape, self._strided, self._payload = shown._shape, shown._geometry(), shown._payload
    if shown._keys & AUTOGRAD:
        self._autograd, self._keys = shown._autograd, shown._keys
    tangent = tangent_of(shown)
    if tangent is not None:
        give(self, tangent)
    return self


def _inplace_view(
    schema: str, arguments: str, make: Callable[..., Tensor], places: Sequence[str] = ("Tensor",)
) -> None:
    """Define ``<view>_``, which gives a tensor the geometry of one of its views.

    Args:
        schema: name of the op, with overload.
        arguments: of the view, after the tensor.
        make: makes the view.
        places: as in `Exposure.namespaces`.
    """

    def decomposition(self: Tensor, *args: Any) -> Tensor:
        if is_grad_enabled():
            refuse_leaves(self)
        _launch_recorded()
        self._settled()._own_storage()
        # A record of the view would see what follows.
        keep = MASKS.keep & ~DispatchKey.Pipeline
        return _become(self, with_masks(MASKS.include, keep, make, self, *args))

    separator = ", " if arguments else ""
    base = schema.partition(".")[0]
    op(
        f"{schema}(Tensor(a!) self{separator}{arguments}) -> Tensor(a!)",
        doc=f"In-place version of `{base[:-1]}`: the tensor becomes that view of its memory.",
        decomposition=decomposition,
        fills=True,  # no element is written, so elements may share memory
        namespaces=places,
        varargs="dim" if arguments == "int[] dim" else "",
        tags=frozenset({"inplace_view"}),
    )


_inplace_view("as_strided_", "int[] size, int[] stride, int? storage_offset=None",
              lambda self, *args: self.as_strided(*args), EVERYWHERE)  # fmt: skip
_inplace_view("squeeze_", "", lambda self: self.squeeze())
_inplace_view("squeeze_.dim", "int dim", lambda self, dim: self.squeeze(dim))
_inplace_view("squeeze_.dims", "int[] dim", lambda self, dim: self.squeeze(dim))
_inplace_view("swapaxes_", "int axis0, int axis1", lambda self, a, b: self.transpose(a, b))
_inplace_view("swapdims_", "int dim0, int dim1", lambda self, a, b: self.transpose(a, b))
_inplace_view("t_", "", lambda self: self.t())
_inplace_view("transpose_", "int dim0, int dim1", lambda self, a, b: self.transpose(a, b))
_inplace_view("unsqueeze_", "int dim", lambda self, dim: self.unsqueeze(dim))

# ---- other memory -------------------------------------------------------------------------------


def _set(self: Tensor, storage: Storage, shape: Any, strides: Any, offset: int) -> Tensor:
    """Show other memory.

    Raises:
        RuntimeError: if the memory is too small, or has no such layout.
    """
    if self._keys & AUTOGRAD and is_grad_enabled():
        refuse_leaves(self)
        raise RuntimeError("set_ gives a tensor other memory, which its history would not know of")
    shape, strides = tuple(shape), tuple(strides) or contiguous_strides(tuple(shape))
    check_within(shape, strides, offset, self._dtype.itemsize, storage.size_bytes)
    _launch_recorded()
    self._settled()
    self._storage, self._base = storage, None
    self._shape, self._strided = shape, (strides, offset)
    runtime = TABLE[self._device.type].runtime
    self._payload = runtime.payload(storage, shape, strides, offset, self._dtype)
    return self


def _same_kind(self: Tensor, source: Tensor) -> Storage:
    """The memory of a tensor that another one can show.

    Raises:
        RuntimeError: if dtype or device differ.
    """
    if source._dtype is not self._dtype:
        raise RuntimeError(
            f"Could not set tensor of type {source._dtype.label} to a tensor of type {self._dtype.label}"
        )
    if source._device is not self._device:
        raise RuntimeError(
            f"Attempted to set the storage of a tensor on device {self._device} to a storage on "
            f"different device {source._device}. Move the tensor there first"
        )
    return source._settled()._own_storage()


def _set_to_tensor(self: Tensor, source: Tensor) -> Tensor:
    strides, offset = source._geometry()
    return _set(self, _same_kind(self, source), source._shape, strides, offset)


def _set_to_part(
    self: Tensor, source: Tensor, storage_offset: int, size: Sequence[int], stride: Any = ()
) -> Tensor:
    return _set(self, _same_kind(self, source), size, stride, storage_offset)


def _check_storage(source: Any) -> None:
    if not is_storage(source):
        raise TypeError(
            f"set_(): argument 'source' must be Tensor or Storage, not {type(source).__name__}"
        )


def _set_to_storage(self: Tensor, source: Any) -> Tensor:
    _check_storage(source)
    typed = getattr(source, "dtype", self._dtype)
    count = source.nbytes() // self._dtype.itemsize
    if typed is not self._dtype:
        raise RuntimeError(
            f"Expected a Storage of type {self._dtype} or an UntypedStorage, but got type {typed}"
        )
    return _set_to_storage_part(self, source, 0, (count,), (1,))


def _set_to_storage_part(
    self: Tensor, source: Any, storage_offset: int, size: Sequence[int], stride: Any = ()
) -> Tensor:
    _check_storage(source)
    storage: Storage = getattr(source, "_untyped_storage", source)
    if storage.device is not self._device:
        raise RuntimeError(
            f"Attempted to set the storage of a tensor on device {self._device} to a storage on "
            f"different device {storage.device}. Move the storage there first"
        )
    storage.settle()
    return _set(self, storage, size, stride, storage_offset)


def _set_to_nothing(self: Tensor) -> Tensor:
    memory = TABLE[self._device.type].runtime.empty((0,), None, self._dtype, self._device)
    return _set(self, memory._own_storage(), (0,), (1,), 0)


for _overload, _arguments, _decomposition in (
    (".source_Tensor", ", Tensor source", _set_to_tensor),
    (
        ".source_Tensor_storage_offset",
        ", Tensor source, int storage_offset, int[] size, int[] stride=[]",
        _set_to_part,
    ),
    (".source_Storage", ", Storage source", _set_to_storage),
    (
        ".source_Storage_storage_offset",
        ", Storage source, int storage_offset, int[] size, int[] stride=[]",
        _set_to_storage_part,
    ),
    ("", "", _set_to_nothing),
):
    op(
        f"set_{_overload}(Tensor(a!) self{_arguments}) -> Tensor(a!)",
        doc="The tensor shows the memory of another one, or none, from now on.",
        decomposition=_decomposition,
        fills=True,  # no element is written
        crosses_devices="as they are",  # memory elsewhere is refused
        namespaces=("Tensor",),
        tags=frozenset({"inplace_view"}),
    )
