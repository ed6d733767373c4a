"""Tensors from Python data, buffers and NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .devices import TABLE, concrete, device
from .dispatch.binding import python_number
from .dtypes import DTYPES, bool_, dtype, int64, of_number
from .promotion import promote_types
from .shapes import Shape, numel
from .tensor import Tensor, from_values

__all__ = ["as_tensor", "asarray", "from_numpy", "tensor"]


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
        data: a number, nested sequences of numbers, an object with the buffer protocol (a NumPy
            array, say) or a tensor.
        dtype: element type; inferred if None: float gives the default dtype, int gives int64.
        device: where to make it.
        requires_grad: record operations on it.
        pin_memory: accepted for compatibility; no backend pins memory yet.

    Raises:
        ValueError: for nested sequences of unequal lengths.
        TypeError: for elements that are not numbers.
    """
    on = concrete(device)
    if isinstance(data, Tensor):
        made = data.detach().clone().to(on if device is not None else data._device, dtype or data._dtype)
    else:
        found = _from_buffer(data, dtype, on)
        made = found if found is not None else _from_sequence(data, dtype, on)
    return made.requires_grad_() if requires_grad else made


def as_tensor(
    data: Any, dtype: dtype | None = None, device: device | str | None = None
) -> Tensor:
    """``data`` as a tensor, without a copy where it is one of that dtype and device, or a NumPy
    array for the CPU.
    """
    if isinstance(data, Tensor):
        return data.to(concrete(device) if device is not None else data._device, dtype or data._dtype)
    if hasattr(data, "__array_interface__") and getattr(data, "shape", ()):
        made = from_numpy(data)
        return made.to(concrete(device), dtype or made._dtype)
    return tensor(data, dtype=dtype, device=device)


asarray = as_tensor


def from_numpy(array: Any) -> Tensor:
    """A CPU tensor that shares memory with a NumPy array.

    Raises:
        TypeError: if ``array`` is not an ndarray or its dtype has no counterpart.
    """
    on = concrete("cpu")
    return TABLE[on.type].runtime.from_numpy(array)  # type: ignore[attr-defined,no-any-return]


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
    """A copy of an object that exports a numeric buffer; None for anything else."""
    if isinstance(data, list | tuple | str | bytes | bytearray):
        return None
    try:
        view = memoryview(data)
    except TypeError:
        return None
    source = _dtype_of_format(view.format, view.itemsize)
    if source is None:
        raise TypeError(f"can't convert a buffer of format {view.format!r} to a tensor")
    shape: Shape = tuple(view.shape or ())
    raw = memoryview(view.tobytes())
    made = TABLE[on.type].runtime.from_host(raw, shape, source, on)
    return made if d is None else made.to(d)


# ---- sequences ----------------------------------------------------------------------------------


def _from_sequence(data: Any, d: dtype | None, on: device) -> Tensor:
    shape = _shape_of(data)
    flat = list(_flatten(data, shape, 0)) if shape else [_number(data)]
    if d is None:
        d = _infer(flat)
    if d.category < 3 and any(type(v) is complex for v in flat):
        raise TypeError(f"can't convert complex to {d.name}")
    made = from_values(flat, shape, d, on)
    assert numel(shape) == len(flat)  # _flatten refuses ragged data
    return made


def _shape_of(data: Any) -> Shape:
    out = []
    while isinstance(data, list | tuple | range):
        out.append(len(data))
        if not data:
            break
        data = data[0]
    if isinstance(data, Tensor) and data._shape:
        out += list(data._shape)
    elif hasattr(data, "__array_interface__") and getattr(data, "shape", ()):
        out += list(data.shape)
    return tuple(out)


def _flatten(data: Any, shape: Shape, level: int) -> Iterator[Any]:
    if level == len(shape):
        if isinstance(data, list | tuple | range):
            raise ValueError(
                f"too many dimensions: expected a number at depth {level}, got {type(data).__name__}"
            )
        yield _number(data)
        return
    if isinstance(data, Tensor) or hasattr(data, "__array_interface__"):
        data = data.tolist()
    if not isinstance(data, list | tuple | range):
        raise TypeError(
            f"expected sequence of length {shape[level]} at dim {level} (got "
            f"{type(data).__name__})"
        )
    if len(data) != shape[level]:
        raise ValueError(
            f"expected sequence of length {shape[level]} at dim {level} (got {len(data)})"
        )
    for element in data:
        yield from _flatten(element, shape, level + 1)


def _number(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.item()
    number = python_number(value)
    if number is None:
        raise TypeError(f"new(): invalid data type '{type(value).__name__}'")
    return number


def _infer(flat: list[Any]) -> dtype:
    if not flat:
        return of_number(0.0)
    kinds = {type(v) for v in flat}
    out = bool_ if kinds == {bool} else int64 if kinds <= {bool, int} else None
    if out is not None:
        return out
    found = [of_number(k()) for k in kinds]
    d = found[0]
    for other in found[1:]:
        d = promote_types(d, other)
    return d
