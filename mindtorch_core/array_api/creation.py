"""Functions of the array API standard that make tensors."""

from __future__ import annotations

from typing import Any

from ..dispatch.functions import fn
from ..frontend import foreign_arrays
from ..tensors.tensor import Tensor
from ..values.dtypes import dtype, get_default_dtype

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]

Device = Any
Sizes = int | tuple[int, ...]


def _sizes(shape: Sizes) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: dtype | None = None,
    device: Device = None,
) -> Tensor:
    """Numbers from ``start`` (0, if ``stop`` is not given) to before ``stop``; none if it lies behind.

    Raises:
        RuntimeError: if ``step`` is 0.
    """
    if stop is None:
        start, stop = 0, start
    if step and (stop - start) / step < 0:  # an error in PyTorch
        stop = start + 0 * stop
    return fn.arange(start, stop, step, dtype=dtype, device=device)


def asarray(
    obj: Any, /, *, dtype: dtype | None = None, device: Device = None, copy: bool | None = None
) -> Tensor:
    """A tensor, an array, what has DLPack or a buffer, or numbers, as a tensor.

    Args:
        obj: what becomes one; tensors and arrays share memory where they can.
        dtype: that of the result; by default the object's own, or the default one of its kind.
        device: where to put it; by default where the object is.
        copy: True copies always, False never, None where it is needed.

    Raises:
        ValueError: if a copy is needed and refused.
    """
    if device is None and isinstance(obj, Tensor):
        device = obj.device
    return foreign_arrays.asarray(obj, dtype=dtype, device=device, copy=copy)


def empty(shape: Sizes, *, dtype: dtype | None = None, device: Device = None) -> Tensor:
    """A tensor whose elements nobody has set."""
    return fn.empty(_sizes(shape), dtype=dtype, device=device)


def empty_like(x: Tensor, /, *, dtype: dtype | None = None, device: Device = None) -> Tensor:
    """A tensor with the shape of x, whose elements nobody has set."""
    return fn.empty_like(x, dtype=dtype, device=device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: dtype | None = None,
    device: Device = None,
) -> Tensor:
    """Ones on the ``k``-th diagonal of a matrix of zeros; as many columns as rows by default."""
    columns = n_rows if n_cols is None else n_cols
    if k == 0:
        return fn.eye(n_rows, columns, dtype=dtype, device=device)
    made = fn.zeros((n_rows, columns), dtype=dtype, device=device)
    if -n_rows < k < columns:
        made.diagonal(k).fill_(1)
    return made


def from_dlpack(x: Any, /, *, device: Device = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of an object with DLPack, or a copy of it.

    Args:
        x: a tensor of this library's on any device, or another's on the CPU.
        device: where to put it; by default where it is.
        copy: True copies always, False never, None where it is needed.

    Raises:
        BufferError: if the memory cannot be shared.
        ValueError: if a copy is needed and refused.
    """
    if isinstance(x, Tensor):
        x = x.detach()
        return foreign_arrays.asarray(x, device=device or x.device, copy=copy)
    return foreign_arrays.from_dlpack(x, device=device, copy=copy)


def full(
    shape: Sizes, fill_value: complex, *, dtype: dtype | None = None, device: Device = None
) -> Tensor:
    """A tensor whose elements are one number; its dtype is by default that of the number's kind."""
    return fn.full(_sizes(shape), fill_value, dtype=dtype, device=device)


def full_like(
    x: Tensor, /, fill_value: complex, *, dtype: dtype | None = None, device: Device = None
) -> Tensor:
    """A tensor with the shape of x whose elements are one number."""
    return fn.full_like(x, fill_value, dtype=dtype, device=device)


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: dtype | None = None,
    device: Device = None,
    endpoint: bool = True,
) -> Tensor:
    """``num`` numbers at equal distances from ``start`` to ``stop``, which is the last if ``endpoint``."""
    if dtype is None and (isinstance(start, complex) or isinstance(stop, complex)):
        dtype = get_default_dtype().to_complex()
    if endpoint:
        return fn.linspace(start, stop, num, dtype=dtype, device=device)
    return fn.linspace(start, stop, num + 1, dtype=dtype, device=device)[:num]


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> list[Tensor]:
    """Coordinates of a grid from those of its axes.

    Args:
        arrays: one tensor with one dimension for each axis, all of a dtype.
        indexing: ``"xy"`` exchanges the first two dimensions of the results, ``"ij"`` does not.

    Raises:
        ValueError: for another ``indexing``.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f'indexing must be "xy" or "ij", got {indexing!r}')
    return list(fn.meshgrid(*arrays, indexing=indexing)) if arrays else []


def ones(shape: Sizes, *, dtype: dtype | None = None, device: Device = None) -> Tensor:
    """A tensor of ones."""
    return fn.ones(_sizes(shape), dtype=dtype, device=device)


def ones_like(x: Tensor, /, *, dtype: dtype | None = None, device: Device = None) -> Tensor:
    """A tensor of ones with the shape of x."""
    return fn.ones_like(x, dtype=dtype, device=device)


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Matrices with zeros above the ``k``-th diagonal."""
    return fn.tril(x, k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Matrices with zeros below the ``k``-th diagonal."""
    return fn.triu(x, k)


def zeros(shape: Sizes, *, dtype: dtype | None = None, device: Device = None) -> Tensor:
    """A tensor of zeros."""
    return fn.zeros(_sizes(shape), dtype=dtype, device=device)


def zeros_like(x: Tensor, /, *, dtype: dtype | None = None, device: Device = None) -> Tensor:
    """A tensor of zeros with the shape of x."""
    return fn.zeros_like(x, dtype=dtype, device=device)
