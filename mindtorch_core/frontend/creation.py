"""Tensors from Python data, buffers and NumPy arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from ..dispatch.asked_wrongly import guarded
from ..dispatch.calls.binding import python_number
from ..dispatch.calls.failures import out_of_memory
from ..tensors.attached import attach
from ..tensors.autograd_state import born
from ..tensors.tensor import Tensor, from_values
from ..values.devices import TABLE, chosen_device, concrete, device
from ..values.dtypes import COMPLEX, DTYPES, FLOATING, INTEGER, as_dtype, dtype, of_number
from ..values.flags import check_bool
from ..values.promotion import promote_types
from ..values.shapes import Shape, contiguous_strides, numel
from ..values.user_warnings import warn_user, warn_user_once
from .pickling import elements, is_storage

__all__ = ["as_tensor", "from_numpy", "tensor"]


@guarded
def tensor(
    data: Any,
    *,
    dtype: dtype | None = None,
    device: device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with a copy of ``data``.

    Args:
        data: a number, nested sequences of numbers, a NumPy array, a tensor, or one of another library
            that has ``__dlpack__``.
        dtype: element type; inferred if None: float gives the default dtype, int gives int64.
        device: where to make it.
        requires_grad: record operations on it.
        pin_memory: whether in memory that is pinned for copies to an accelerator.

    Raises:
        ValueError: for nested sequences of unequal lengths.
        TypeError: for elements that are not numbers.
        RuntimeError: if memory is to be pinned and no accelerator is there to pin it.

    Example:
        >>> torch.tensor([[1, 2], [3, 4]]), torch.tensor(1.5, dtype=torch.float64)
        (tensor([[1, 2],
                [3, 4]]), tensor(1.5000, dtype=torch.float64))
    """
    on = concrete(device)
    check_bool(requires_grad, "tensor(): argument 'requires_grad'")
    if dtype is not None:
        dtype = as_dtype(dtype, "tensor")
    if isinstance(data, Tensor):
        made = data.detach().clone().to(place_of(data, device), dtype or data._dtype)
        _copying("torch.tensor")
    elif is_storage(data):
        made = elements(data, dtype).clone().to(place_of(elements(data), device))
    else:
        found = _from_buffer(data, dtype, on)
        made = found if found is not None else _from_sequence(data, dtype, on)
    made = born(made, own=True)
    if pin_memory:
        made = made.pin_memory()
    return made.requires_grad_() if requires_grad else made


def _copying(name: str) -> None:
    """Say that there are plainer ways to copy a tensor."""
    warn_user(
        f"To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
        f"sourceTensor.detach().clone().requires_grad_(True), rather than {name}(sourceTensor)."
    )


def place_of(data: Tensor, device: device | str | None) -> device:
    """Where a tensor goes: to what the call names, what the thread has chosen, or where it is."""
    chosen = device if device is not None else chosen_device()
    return data._device if chosen is None else concrete(chosen)


def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: dtype | None = None,
    device: device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """`tensor` with the dtype and device of this tensor, unless others are given.

    Args:
        self: the tensor.
        data: numbers, as `tensor` takes them.
        dtype: element type, if another one is wanted.
        device: where to put it, if elsewhere.
        requires_grad: record operations on it.

    Example:
        >>> torch.tensor([1.0], dtype=torch.float64).new_tensor([1, 2])
        tensor([1., 2.], dtype=torch.float64)
    """
    d, on = dtype or self._dtype, device or self._device
    check_bool(requires_grad, "new_tensor(): argument 'requires_grad'")
    if isinstance(data, Tensor):
        made: Tensor = born(data.detach().to(on, d, copy=True), own=True)
        _copying("tensor.new_tensor")
        return made.requires_grad_(requires_grad)
    return tensor(data, dtype=d, device=on, requires_grad=requires_grad)


@guarded
def as_tensor(data: Any, dtype: dtype | None = None, device: device | str | None = None) -> Tensor:
    """``data`` as a tensor, without a copy where that is possible.

    A tensor of the dtype and device is returned itself; a NumPy array shares its memory.

    Args:
        data: what `tensor` takes.
        dtype: element type, if another one is wanted.
        device: where to put it.

    Raises:
        ValueError: for nested sequences of unequal lengths.
        TypeError: for elements that are not numbers.

    Example:
        >>> x = torch.ones(2)
        >>> torch.as_tensor(x) is x, torch.as_tensor([1, 2])
        (True, tensor([1, 2]))
    """
    if isinstance(data, Tensor):
        return data.to(place_of(data, device), dtype or data._dtype)
    if is_array(data):
        made = from_numpy(data)
        return made.to(concrete(device), dtype or made._dtype)
    return tensor(data, dtype=dtype, device=device)


attach(__name__, {"_from_array": staticmethod(as_tensor), "new_tensor": new_tensor})


def is_array(value: Any) -> bool:
    """Whether a value is a NumPy array, which has memory to share, unlike a number of NumPy."""
    return hasattr(value, "__array_interface__") and hasattr(value, "ctypes")


@guarded
def from_numpy(array: Any) -> Tensor:
    """A CPU tensor that shares memory with a NumPy array.

    The array may be read-only; then in-place ops on the tensor fail.

    Args:
        array: an ndarray.

    Raises:
        TypeError: if ``array`` is not an ndarray or its dtype has no counterpart.

    Example:
        >>> import numpy
        >>> torch.from_numpy(numpy.arange(3))
        tensor([0, 1, 2])
    """
    on = concrete("cpu")
    made: Tensor = TABLE[on.type].runtime.from_numpy(array)  # type: ignore[attr-defined]
    return known_outside(made)


def known_outside(made: Tensor) -> Tensor:
    """A tensor over memory that another library has as well, as it is shown to users."""
    storage = made._storage = TABLE[made._device.type].runtime.storage_of(made)
    storage.keep_memory()
    return born(made)


# ---- buffers ------------------------------------------------------------------------------------

_FORMATS: Final = {
    "?": "bool", "b": "int8", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32",
    "I": "uint32", "q": "int64", "Q": "uint64", "e": "float16", "f": "float32", "d": "float64",
    "Zf": "complex64", "Zd": "complex128",
}  # fmt: skip


def _dtype_of_format(text: str, itemsize: int) -> dtype | None:
    code = text.lstrip("@=<")
    if code in ("l", "L"):
        return DTYPES[("int" if code == "l" else "uint") + str(itemsize * 8)]
    name = _FORMATS.get(code)
    return DTYPES[name] if name else None


def _from_buffer(data: Any, d: dtype | None, on: device) -> Tensor | None:
    """A copy of an array, a number of NumPy or another library's tensor; None for anything else."""
    if not hasattr(data, "__array_interface__"):
        if not hasattr(data, "__dlpack__"):
            return None
        made: Tensor = TABLE[concrete("cpu").type].runtime.from_dlpack(data)  # type: ignore[attr-defined]
        return made.clone().to(on, d or made._dtype)
    if not is_array(data):
        _dtype_of(data)  # dates and texts show their bytes, which are no numbers
        if d is not None and isinstance(python_number(data), int | float):
            return None  # as one of Python's: it has to fit
    try:
        view = memoryview(data)
        source = _dtype_of_format(view.format, view.itemsize)
    except (TypeError, ValueError):  # an image has an array's interface, and no buffer
        source = None
    if source is None:  # what the buffer protocol lacks, such as bfloat16, or no tensor holds
        return from_numpy(data).clone().to(on, d or None)
    shape: Shape = tuple(view.shape or ())
    columns = view.f_contiguous and not view.c_contiguous
    strides = contiguous_strides(shape[::-1])[::-1] if columns else None
    try:
        raw = memoryview(view.tobytes("F" if columns else "C"))
    except MemoryError as error:
        raise out_of_memory("tensor", error) from None
    made = TABLE[on.type].runtime.from_host(raw, shape, source, on, strides)
    return made if d is None else made.to(d)


# ---- sequences ----------------------------------------------------------------------------------


def _from_sequence(data: Any, d: dtype | None, on: device) -> Tensor:
    shape = _shape_of(data)
    found = _Elements(d)
    found.add(data, shape, 0)
    d = d or found.dtype()
    if INTEGER <= d.category < COMPLEX and any(type(v) is complex for v in found.numbers):
        raise TypeError(f"can't convert complex to {d.name}")
    if d.category == INTEGER:
        _check_range(found.numbers, d)
    return from_values(found.numbers, shape, d, on)


def _check_range(numbers: list[Any], d: dtype) -> None:
    """Refuse integers that PyTorch does not read for a dtype; what it reads may still not fit, or wraps."""
    unsigned = d.name == "uint64"
    low, end = (0, 1 << 64) if unsigned else (-(1 << 63), 1 << 63)
    for v in numbers:
        if type(v) is int and not low <= v < end:
            if unsigned:
                raise OverflowError(
                    "can't convert negative int to unsigned" if v < 0 else "int too big to convert"
                )
            raise ValueError(f"Overflow when unpacking long long: {v} does not fit int64")


_MOST_DIMENSIONS: Final = 128  # of nested data, as in PyTorch; a list that holds itself has more


def _shape_of(data: Any) -> Shape:
    out: list[int] = []
    while is_sequence(data):
        if len(out) == _MOST_DIMENSIONS:
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        out.append(len(data))
        if not out[-1]:
            break
        data = _at(data, 0)
    if out and isinstance(data, str | bytes):
        raise ValueError(f"too many dimensions '{type(data).__name__}'")
    if isinstance(data, Tensor):  # an element, whatever its rank, unless elements before are lists
        return tuple(out)
    if hasattr(data, "__array_interface__") and getattr(data, "shape", None):
        out += list(data.shape)
    return tuple(out)


def is_sequence(data: Any) -> bool:
    """Whether data holds elements by position, as a list does."""
    kind = type(data)
    if kind in _PYTHON:
        return False
    if kind is list or isinstance(data, list | tuple | range):
        return True
    if isinstance(data, Tensor | str | bytes | dict) or hasattr(data, "__array_interface__"):
        return False
    return hasattr(data, "__getitem__") and hasattr(data, "__len__")


def _at(data: Any, position: int) -> Any:
    """An element of a sequence.

    Raises:
        ValueError: if it is none that is read by position, as a table of pandas.
    """
    try:
        return data[position]
    except Exception as error:  # noqa: BLE001  (of any class)
        kind = type(data).__name__
        raise ValueError(
            f"could not determine the shape of object type '{kind}': it has no element at position "
            f"{position} ({type(error).__name__}). Make an array of it first, as with to_numpy()"
        ) from None


class _Elements:
    """The numbers in nested data, and what their types say about the dtype.

    Attributes:
        numbers: the elements, row-major, as Python numbers.
        types: the types of those that were Python's numbers.
        dtypes: dtypes of the tensors, arrays and NumPy numbers that the others came from.
        wanted: the dtype that was asked for, if any.
    """

    __slots__ = ("dtypes", "numbers", "types", "wanted")

    def __init__(self, wanted: dtype | None) -> None:
        self.wanted = wanted
        self.numbers: list[Any] = []
        self.types: set[type] = set()
        self.dtypes: set[dtype] = set()

    def add(self, data: Any, shape: Shape, level: int) -> None:
        """Collect what lies at one level of the nesting, refusing unequal lengths."""
        if level == len(shape):
            if is_sequence(data):
                raise TypeError(
                    f"expected a number at depth {level}, as in the elements before, got "
                    f"{type(data).__name__}"
                )
            self.add_number(data)
            return
        if isinstance(data, Tensor) or hasattr(data, "__array_interface__"):
            if level and is_array(data):
                warn_user_once(
                    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider "
                    "converting the list to a single numpy.ndarray with numpy.array() before"
                )
            self.add_array(data, shape, level)
            return
        if not is_sequence(data):
            raise TypeError(
                f"not a sequence: expected one of length {shape[level]} at dim {level} (got "
                f"{type(data).__name__})"
            )
        if len(data) != shape[level]:
            raise ValueError(
                f"expected sequence of length {shape[level]} at dim {level} (got {len(data)})"
            )
        if type(data) is not list and not isinstance(data, list | tuple | range):
            # Iteration may give numbers of other types.
            data = [_at(data, i) for i in range(len(data))]
        for element in data:
            self.add(element, shape, level + 1)

    def add_array(self, data: Any, shape: Shape, level: int) -> None:
        """Collect the elements of a tensor or an array."""
        self.dtypes.add(_dtype_of(data))
        plain = _Elements(None)
        plain.add(data.tolist(), shape, level)
        self.numbers += plain.numbers

    def add_number(self, value: Any) -> None:
        """Collect one element."""
        kind = type(value)
        if kind in _PYTHON:
            self.types.add(kind)
            self.numbers.append(value)
            return
        if isinstance(value, Tensor) and numel(value._shape) != 1:
            if (self.wanted or value._dtype).category < FLOATING:
                raise TypeError(
                    "only integer tensors of a single element can be converted to an index: use "
                    "torch.stack to put tensors together"
                )
            raise ValueError(
                "only one element tensors can be converted to Python scalars: use torch.stack to put "
                "tensors together"
            )
        alone = isinstance(value, Tensor) or is_array(value)
        number = value.item() if alone else python_number(value)
        if number is None:
            if isinstance(value, str | bytes):
                raise TypeError(f"new(): invalid data type '{kind.__name__}'")
            if hasattr(value, "dtype"):
                _dtype_of(value)
            if self.wanted is None:
                raise RuntimeError(f"Could not infer dtype of {kind.__name__}")
            self.numbers.append(_MADE[self.wanted.category](value))
            return
        self.dtypes.add(_dtype_of(value))
        self.numbers.append(number)

    def dtype(self) -> dtype:
        """The dtype that holds them all."""
        d, *others = self.dtypes | {of_number(kind()) for kind in self.types} or {of_number(0.0)}
        for other in others:
            d = promote_types(d, other)
        return d


_PYTHON: Final = frozenset({bool, int, float, complex})
# What makes a number of anything else where a dtype was asked for, by the dtype's category.
_MADE: Final[tuple[Callable[[Any], Any], ...]] = (operator.index, operator.index, float, complex)


def _dtype_of(value: Any) -> dtype:
    """The dtype of a tensor, an array or a NumPy number, whatever the order of its bytes.

    Raises:
        TypeError: if no tensor has it.
    """
    if isinstance(value, Tensor):
        return value._dtype
    name = getattr(getattr(value, "dtype", None), "name", None)
    if name is not None:
        if name in DTYPES:
            return DTYPES[name]
        raise TypeError(
            f"can't convert np.ndarray of type {name}. The only supported types are: "
            f"{', '.join(DTYPES)}."
        )
    try:
        view = memoryview(value)
    except (TypeError, ValueError):
        return of_number(python_number(value))
    return _dtype_of_format(view.format, view.itemsize) or of_number(0.0)
