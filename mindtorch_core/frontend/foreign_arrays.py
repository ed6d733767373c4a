"""Tensors and others' memory: NumPy arrays, DLPack, buffers, and `asarray`, which takes anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..dispatch.asked_wrongly import guarded
from ..dispatch.keys import AUTOGRAD, MASKS, DispatchKey
from ..tensors.attached import attach
from ..tensors.autograd_state import born
from ..tensors.storage import BEFORE_EXPORT, BEFORE_LOOK
from ..tensors.subclasses import hollow
from ..tensors.tensor import Tensor
from ..tensors.unresolved import refuse_unresolved
from ..values.devices import TABLE, DeviceRow, concrete, device
from ..values.dtypes import FLOAT8, as_dtype, dtype, get_default_dtype
from ..values.flags import check_bool
from ..values.layouts import strided
from ..values.own_frames import hide, refusing
from .creation import from_numpy, is_array, known_outside, place_of, tensor
from .pickling import elements, is_storage

if TYPE_CHECKING:  # a name for type checkers: the core needs no NumPy
    from numpy import ndarray

__all__ = ["asarray", "from_dlpack", "frombuffer", "to_dlpack"]

Device = device | str | None


def _cpu_runtime() -> Any:
    return TABLE[concrete("cpu").type].runtime


@refusing
def from_dlpack(ext_tensor: Any, *, device: Device = None, copy: bool | None = None) -> Tensor:
    """A CPU tensor that shares memory with another library's CPU tensor or array, by DLPack.

    Args:
        ext_tensor: what has ``__dlpack__``, or a capsule that nobody has consumed.
        device: where to put it; copies, if that is not the CPU.
        copy: always copy; None copies only if the device needs it, False never.

    Raises:
        TypeError: for anything else.
        RuntimeError: for a capsule that was consumed.
        BufferError: if its memory cannot be shared.
        ValueError: if a copy is needed and refused.
    """
    made = known_outside(_cpu_runtime().from_dlpack(ext_tensor))
    return _placed(made, None, device, copy)


@guarded
def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule over the memory of a tensor, for one consumer."""
    return tensor.__dlpack__()


def frombuffer(
    buffer: Any,
    *,
    dtype: dtype,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor with one dimension over the memory of an object with the buffer protocol.

    Args:
        buffer: such as ``bytearray`` or ``array.array``; if it is read-only, in-place ops fail.
        dtype: what its bytes are read as.
        count: number of elements; all that fit if negative.
        offset: bytes to skip.
        requires_grad: record operations on it.

    Raises:
        ValueError: if there is no buffer, or it has not the bytes asked for.
    """
    try:
        data = memoryview(buffer).cast("B")
    except (TypeError, ValueError):
        raise ValueError("object does not implement Python buffer protocol.") from None
    length, size = len(data), dtype.itemsize
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({length} bytes) minus 1"
        )
    if count < 0 and (length - offset) % size:
        raise ValueError(
            f"buffer length ({length} bytes) after offset ({offset} bytes) must be a multiple of "
            f"element size ({size})"
        )
    if count > 0 and offset + count * size > length:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must "
            f"not be greater than actual buffer length ({length} bytes)"
        )
    end = length if count < 0 else offset + count * size
    made = known_outside(_cpu_runtime().from_buffer(data[offset:end], dtype))
    return made.requires_grad_() if requires_grad else made


def asarray(
    obj: Any,
    *,
    dtype: dtype | None = None,
    device: Device = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """Anything as a tensor: tensors, arrays and buffers share memory, numbers are copied.

    Args:
        obj: a tensor, a NumPy array, what has ``__dlpack__`` or the buffer protocol (bytes are read
            as elements of ``dtype``), or numbers as in `tensor`.
        dtype: element type, if another one is wanted.
        device: where to put it.
        copy: always copy; None copies only where dtype or device need it, False never.
        requires_grad: record operations on it; None leaves a tensor as it is.

    Raises:
        ValueError: if a copy is needed and refused.

    Example:
        >>> torch.asarray([1, 2]), torch.asarray(bytearray(b"ab"), dtype=torch.uint8)
        (tensor([1, 2]), tensor([97, 98], dtype=torch.uint8))
    """
    if dtype is not None:
        dtype = as_dtype(dtype, "asarray")
    if requires_grad is not None:
        check_bool(requires_grad, "asarray(): argument 'requires_grad'")
    made = _shared(obj, dtype)
    if made is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        made = tensor(obj, dtype=dtype, device=device)
    else:
        made = _placed(made, dtype, device, copy)
    if requires_grad is None or made.requires_grad == requires_grad:
        return made
    return made.detach().requires_grad_(requires_grad)


def _shared(obj: Any, d: dtype | None) -> Tensor | None:
    """A tensor over an object's memory; None for what has no memory to share."""
    if isinstance(obj, Tensor):
        return obj
    if is_storage(obj):
        return born(elements(obj, d))
    if hasattr(obj, "__array_interface__"):
        return from_numpy(obj) if is_array(obj) else None
    if hasattr(obj, "__dlpack__"):
        return from_dlpack(obj)
    try:
        memoryview(obj).release()
    except TypeError:
        return None
    return frombuffer(obj, dtype=d or get_default_dtype())


def _placed(t: Tensor, d: dtype | None, on: Device, copy: bool | None) -> Tensor:
    """A tensor with a dtype, on a device, copied as asked for."""
    where = place_of(t, on)
    d = d or t.dtype
    if copy is False:
        if where is not t.device:
            raise ValueError(f"can't alias tensor from device '{t.device}' to '{where}'.")
        if d is not t.dtype:
            raise ValueError(
                f"can't alias tensor with dtype '{t.dtype.label}' into dtype '{d.label}'."
            )
    moved: Tensor = t.to(where, d)
    return moved.clone() if copy and moved is t else moved


# ---- out of the framework -----------------------------------------------------------------------


def numpy(self: Tensor, *, force: bool = False) -> ndarray[Any, Any]:
    """The tensor as a NumPy array that shares its memory.

    Args:
        self: the tensor.
        force: detach, resolve and copy to the host where that is needed, instead of raising.

    Raises:
        TypeError: if it is not in host memory.
        RuntimeError: if it requires grad and gradients are enabled, is a conjugate or negative view, or of a
            class that answers for elements which it has not.

    Example:
        >>> x = torch.zeros(2)
        >>> x.numpy()[0] = 5
        >>> x
        tensor([5., 0.])
    """
    if force:
        return self.detach().cpu().resolve_conj().resolve_neg().numpy()
    if hollow(self):
        raise RuntimeError(".numpy() is not supported for tensor subclasses.")
    if self._keys & AUTOGRAD and MASKS.keep & DispatchKey.Autograd:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    refuse_unresolved(
        self,
        "Can't call numpy() on Tensor that has {word} bit set. Use tensor.resolve_{name}().numpy() "
        "instead.",
    )
    if self._dtype.name in FLOAT8:
        raise TypeError(f"Got unsupported ScalarType {self._dtype.label}: NumPy has no such type")
    try:
        made: ndarray[Any, Any] = _shared_array(self)
    except TypeError as error:
        hide(error)
        raise
    return made


def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> ndarray[Any, Any]:
    """What NumPy calls to make an array."""
    array = self.numpy()
    if dtype is None or array.dtype == dtype:
        return array.copy() if copy else array
    if copy is False:
        raise ValueError(
            f"a {self._dtype} tensor cannot become an array of dtype {dtype} without a copy"
        )
    return array.astype(dtype)


def __array_wrap__(
    self: Tensor, array: Any, context: Any = None, return_scalar: bool = False
) -> Any:
    """What NumPy's functions of a tensor return: a tensor.

    Raises:
        TypeError: if no tensor holds such a result, as that of an array of objects.
    """
    return from_numpy(array)


def __dlpack__(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[Any, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A DLPack capsule over the tensor's memory."""
    if self._keys & AUTOGRAD:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if self.layout is not strided:
        raise BufferError(
            "Can't export tensors with layout other than torch.strided, use to_dense()"
        )
    refuse_unresolved(
        self,
        "Can't export tensors with the {word} bit set, use tensor.resolve_{name}()",
        BufferError,
    )
    return _exported(self).runtime.dlpack(
        self._settled(), stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
    )


def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    """DLPack's numbers for the tensor's device."""
    return TABLE[self._device.type].runtime.dlpack_device(self)


def _exported(self: Tensor) -> DeviceRow:
    """Leave nothing recorded to run on memory that others are about to see; its device."""
    for flush in BEFORE_EXPORT:
        flush()
    storage = self._own_storage()
    for note in BEFORE_LOOK:
        note(storage, self._dtype, None)
    return TABLE[self._device.type]


def _shared_array(self: Tensor) -> Any:
    """An array over the tensor's memory, which stays the tensor's."""
    array = _exported(self).runtime.numpy(self._settled())
    self._own_storage().keep_memory()
    return array


attach(
    __name__,
    {
        "__array__": __array__,
        "__array_wrap__": __array_wrap__,
        "__dlpack__": __dlpack__,
        "__dlpack_device__": __dlpack_device__,
        "numpy": numpy,
    },
)
