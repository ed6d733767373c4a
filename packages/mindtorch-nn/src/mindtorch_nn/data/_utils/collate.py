"""Batches of samples: tensors are stacked, whatever holds them is rebuilt around the stacks."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any, Final

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.utils._own_frames import ending, guarded

__all__ = ["collate", "default_collate", "default_collate_fn_map", "default_convert"]

np_str_obj_array_pattern = re.compile(r"[SaUO]")  # by PyTorch's name: arrays of texts and objects
Collate = Callable[..., Any]
Key = type | tuple[type, ...]

_TEXTS: Final = np_str_obj_array_pattern
default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def _numpy_kind(value: Any) -> str:
    """``array`` or ``scalar`` for what NumPy made of numbers, "" for anything else."""
    kind = type(value)
    if kind.__module__ != "numpy" or kind.__name__ in ("str_", "string_", "bytes_"):
        return ""
    if kind.__name__ != "ndarray":
        return "scalar" if hasattr(value, "dtype") else ""
    return "" if _TEXTS.search(value.dtype.str) else "array"


# ---- what holds samples -------------------------------------------------------------------------


def _mapping_like(like: Mapping[Any, Any], values: dict[Any, Any]) -> Any:
    """A mapping of the type of another one, with what else that holds; a dict where it cannot be."""
    try:
        if isinstance(like, MutableMapping):
            made = copy.copy(like)
            made.update(values)
            return made
        return type(like)(values)  # type: ignore[call-arg]
    except TypeError:
        return values


def _sequence_like(like: Sequence[Any], values: list[Any]) -> Any:
    """A sequence of the type of another one; a list where it cannot be, and of tuples."""
    if isinstance(like, tuple):
        return type(like)(*values) if hasattr(like, "_fields") else values
    try:
        if isinstance(like, MutableSequence):
            made = copy.copy(like)
            for i, value in enumerate(values):
                made[i] = value
            return made
        return type(like)(values)  # type: ignore[call-arg]
    except TypeError:
        return values


@ending()
def default_convert(data: Any) -> Any:
    """NumPy's arrays and numbers as tensors, also within what holds them; all else as it is."""
    if isinstance(data, Tensor):
        return data
    if _numpy_kind(data):
        return torch.as_tensor(data)
    if isinstance(data, Mapping):
        return _mapping_like(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _sequence_like(data, [default_convert(each) for each in data])
    return data


# ---- batches ------------------------------------------------------------------------------------


@ending()
def collate(batch: Sequence[Any], *, collate_fn_map: Mapping[Key, Collate] | None = None) -> Any:
    """One batch of samples, by functions for the types of their elements.

    Args:
        batch: the samples, all built alike.
        collate_fn_map: for types, or tuples of types, what makes a batch of such elements; called with
            the elements and with ``collate_fn_map`` itself.

    Raises:
        TypeError: if there is no function for a type.
        RuntimeError: if lists differ in length.
    """
    first = batch[0]
    kind = type(first)
    found = _function_for(first, collate_fn_map or {})
    if found is not None:
        return found(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        lacking = next((key for key in first for sample in batch if key not in sample), None)
        if lacking is not None:
            raise KeyError(lacking)
        columns = {
            key: collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map)
            for key in first
        }
        return _mapping_like(first, columns)
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        rows = zip(*batch, strict=True)
        return _sequence_like(first, [collate(r, collate_fn_map=collate_fn_map) for r in rows])
    raise TypeError(default_collate_err_msg_format.format(kind))


def _function_for(value: Any, functions: Mapping[Key, Collate]) -> Collate | None:
    kind = type(value)
    if kind in functions:
        return functions[kind]
    return next((fn for key, fn in functions.items() if isinstance(value, key)), None)


def collate_tensor_fn(batch: Sequence[Tensor], *, collate_fn_map: Any = None) -> Tensor:
    """A stack of tensors."""
    if batch[0].layout is not torch.strided:
        raise RuntimeError(
            "Batches of sparse tensors are not currently supported by the default collate_fn; please "
            "provide a custom collate_fn to handle them appropriately."
        )
    return torch.stack(list(batch), 0)


def collate_float_fn(batch: Sequence[float], *, collate_fn_map: Any = None) -> Tensor:
    """A tensor of float64."""
    return torch.tensor(list(batch), dtype=torch.float64)


def collate_int_fn(batch: Sequence[int], *, collate_fn_map: Any = None) -> Tensor:
    """A tensor of integers, or of truth values."""
    return torch.tensor(list(batch))


def collate_str_fn(batch: Sequence[str], *, collate_fn_map: Any = None) -> Sequence[str]:
    """Texts as they are."""
    return batch


default_collate_fn_map: Final[dict[Key, Collate]] = {
    Tensor: collate_tensor_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def collate_numpy_array_fn(batch: Iterable[Any], *, collate_fn_map: Any = None) -> Any:
    """A stack of NumPy's arrays, or of its numbers."""
    return collate([torch.as_tensor(each) for each in batch], collate_fn_map=collate_fn_map)


class _AnyNumPy(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return bool(_numpy_kind(value)) and not isinstance(value, float | int)


class _NumPy(metaclass=_AnyNumPy):
    """Stands for NumPy's arrays and numbers, so that NumPy need not be imported."""


collate_numpy_scalar_fn = collate_numpy_array_fn
default_collate_fn_map[_NumPy] = collate_numpy_array_fn


@guarded
def default_collate(batch: Sequence[Any]) -> Any:
    """One batch of samples: tensors and numbers are stacked, texts listed, containers rebuilt.

    Args:
        batch: the samples, all built alike.

    Raises:
        TypeError: if an element is of another type.

    Example:
        >>> torch.utils.data.default_collate([{"x": 1}, {"x": 2}])
        {'x': tensor([1, 2])}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
