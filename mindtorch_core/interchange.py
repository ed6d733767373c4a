"""Tensors leaving the framework: as Python numbers and lists, NumPy arrays, DLPack and pickles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .devices import TABLE, DeviceRow, device
from .dispatch.binding import python_number
from .dispatch.keys import AUTOGRAD, MASKS, DispatchKey
from .dtypes import dtype, unpack
from .shapes import Shape, numel
from .storage import BEFORE_EXPORT, Storage

if TYPE_CHECKING:
    from .stubs.methods import TensorMethods
    from .tensor import Tensor
else:
    TensorMethods = object

__all__ = ["Interchange"]


class Interchange(TensorMethods):
    """What `Tensor` offers to the world outside. Each method first launches recorded work."""

    __slots__ = ()

    if TYPE_CHECKING:  # supplied by Tensor
        _shape: Shape
        _dtype: dtype
        _device: device
        _keys: int
        is_meta: Any

        def _settled(self) -> Tensor: ...
        def _own_storage(self) -> Storage: ...

    def _host(self) -> memoryview:
        """Row-major bytes in host memory."""
        from .tensor import alias

        # Below autograd: reading the elements is not recorded.
        return TABLE[self._device.type].runtime.to_host(alias(self._settled()))

    def item(self) -> Any:
        """The one element as a Python number.

        Raises:
            RuntimeError: if there is not exactly one element, or the device keeps none.
        """
        if numel(self._shape) != 1:
            raise RuntimeError(
                f"a Tensor with {numel(self._shape)} elements cannot be converted to Scalar"
            )
        try:
            return unpack(self._host(), self._dtype)[0]
        except NotImplementedError:
            if TABLE[self._device.type].runtime.executes:
                raise
        raise RuntimeError(
            f"Tensor.item() cannot be called on {self._device.type} tensors: they have no elements"
        )

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers (one number for 0 dimensions)."""
        flat = unpack(self._host(), self._dtype)
        shape = self._shape
        if not shape:
            return flat[0]
        for size in reversed(shape[1:]):
            groups = numel(shape) if size == 0 else len(flat) // size
            flat = [flat[i * size : (i + 1) * size] for i in range(groups)]
        return flat if numel(shape) else _empty_lists(shape)

    def numpy(self, *, force: bool = False) -> Any:
        """The tensor as a NumPy array that shares its memory.

        Args:
            force: detach and copy to the host where that is needed, instead of raising.

        Raises:
            TypeError: if it is not in host memory.
            RuntimeError: if it requires grad and gradients are enabled.
        """
        if force:
            return self.detach().cpu().numpy()
        if self._keys & AUTOGRAD and MASKS.keep & DispatchKey.Autograd:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
            )
        return self._shared_array()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy()
        if dtype is None or array.dtype == dtype:
            return array.copy() if copy else array
        if copy is False:
            raise ValueError(
                f"a {self._dtype} tensor cannot become an array of dtype {dtype} without a copy"
            )
        return array.astype(dtype)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        # NumPy's functions of a tensor return a tensor, as far as their result can be one.
        from .creation import from_numpy

        try:
            return from_numpy(array)
        except TypeError:
            return array

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if self._keys & AUTOGRAD:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        return self._exported().runtime.dlpack(
            self._settled(), stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        return TABLE[self._device.type].runtime.dlpack_device(self)  # type: ignore[arg-type]

    def _exported(self) -> DeviceRow:
        """Leave nothing recorded to run on memory that others are about to see; its device."""
        for flush in BEFORE_EXPORT:
            flush()
        self._own_storage()
        return TABLE[self._device.type]

    def _shared_array(self) -> Any:
        """An array over the tensor's memory."""
        return self._exported().runtime.numpy(self._settled())

    def __bool__(self) -> bool:
        if numel(self._shape) != 1:
            what = "no values" if not numel(self._shape) else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
        return bool(self.item())

    def __int__(self) -> int:
        return int(self._python_scalar("int64_t"))

    def __float__(self) -> float:
        return float(self._python_scalar("double"))

    def __complex__(self) -> complex:
        return complex(self._python_scalar(""))

    def _python_scalar(self, real: str) -> Any:
        """The one element, for a conversion to Python's ``real`` type (any type if empty)."""
        if numel(self._shape) != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        value = self.item()
        if not real or not self._dtype.is_complex:
            return value
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type {real} without overflow")
        return value.real

    def __index__(self) -> int:
        if numel(self._shape) != 1 or self._dtype.category > 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of a 0-d tensor")
        return self._shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self._shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self) -> Any:
        from .operators.define import fn

        if not self._shape:
            return self
        last = self._shape[0] - 1
        return self.index_select(0, fn.arange(last, -1, -1, device=self._device))

    def __contains__(self, value: Any) -> bool:
        if not hasattr(value, "_keys") and python_number(value) is None:
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(value)}."
            )
        return bool((self == value).any())

    def __repr__(self) -> str:
        from .printing import format_tensor

        return format_tensor(self._settled())

    def __format__(self, spec: str) -> str:
        if not self._shape and not self.is_meta:
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        from .pickling import reduced_tensor

        return reduced_tensor(self)  # type: ignore[arg-type]  # a Tensor

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        from .pickling import copied_tensor

        return copied_tensor(self, memo)  # type: ignore[arg-type]  # a Tensor


def _empty_lists(shape: Shape) -> list[Any]:
    return [_empty_lists(shape[1:]) for _ in range(shape[0])] if shape else []
