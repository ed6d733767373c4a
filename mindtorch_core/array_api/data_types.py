"""Dtypes of the array API standard: conversion, kinds, limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..tensors.tensor import Tensor
from ..values import dtypes
from ..values.dtypes import COMPLEX, FLOATING, INTEGER, dtype
from .operands import meet, result_type

__all__ = ["KINDS", "STANDARD", "astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]

Device = Any

_UNSIGNED: Final = ("uint8", "uint16", "uint32", "uint64")
_INTEGERS: Final = ("int8", "int16", "int32", "int64")

# The dtypes of the standard by kind; mindtorch's further ones (float16, bfloat16, ...) are not named in it.
KINDS: Final[dict[str, tuple[str, ...]]] = {
    "bool": ("bool",),
    "signed integer": _INTEGERS,
    "unsigned integer": _UNSIGNED,
    "integral": _INTEGERS + _UNSIGNED,
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
    "numeric": (*_INTEGERS, *_UNSIGNED, "float32", "float64", "complex64", "complex128"),
}
STANDARD: Final[dict[str, dtype]] = {
    name: dtypes.DTYPES[name] for name in (*KINDS["bool"], *KINDS["numeric"])
}


def astype(x: Tensor, dtype: dtype, /, *, copy: bool = True, device: Device = None) -> Tensor:
    """A tensor's elements in another dtype.

    Args:
        x: any tensor.
        dtype: that of the result.
        copy: whether the result has memory of its own where x has the dtype already.
        device: where to put it; None leaves it where it is.

    Raises:
        TypeError: for a complex tensor and a real dtype: take its real or imaginary part.
    """
    if x.is_complex() and not dtype.is_complex and dtype is not dtypes.bool_:
        raise TypeError(
            f"a {x.dtype} tensor has no values in {dtype}: take real(x) or imag(x) first"
        )
    return x.to(x.device if device is None else device, dtype, copy=copy)


def can_cast(from_: dtype | Tensor, to: dtype, /) -> bool:
    """Whether promotion leads from a dtype, or a tensor's, to another."""
    d = from_.dtype if isinstance(from_, Tensor) else from_
    try:
        return meet(d, to) is to
    except (RuntimeError, TypeError):  # the two do not meet at all
        return False


def isdtype(dtype: dtype, kind: Any) -> bool:
    """Whether a dtype is of a kind.

    Args:
        dtype: the dtype.
        kind: ``"bool"``, ``"signed integer"``, ``"unsigned integer"``, ``"integral"``,
            ``"real floating"``, ``"complex floating"``, ``"numeric"``, a dtype, or a tuple of such.

    Raises:
        TypeError: if it is none of these, or ``dtype`` is none.
        ValueError: for another text.
    """
    if not isinstance(dtype, dtypes.dtype):  # scikit-learn asks about NumPy's
        raise TypeError(f"isdtype: {dtype!r} is no dtype of mindtorch's")
    if isinstance(kind, tuple):
        return any(_is_kind(dtype, each) for each in kind)
    return _is_kind(dtype, kind)


def _is_kind(d: dtype, kind: Any) -> bool:
    if isinstance(kind, dtypes.dtype):
        return d is kind
    if not isinstance(kind, str):
        raise TypeError(f"kind must be a text, a dtype or a tuple of such, got {kind!r}")
    if kind not in KINDS:
        raise ValueError(f"there is no kind {kind!r}; there are {', '.join(map(repr, KINDS))}")
    if kind == "bool":
        return d is dtypes.bool_
    if kind == "signed integer":
        return d.category == INTEGER and d.is_signed
    if kind == "unsigned integer":
        return d.category == INTEGER and not d.is_signed
    category = {"integral": INTEGER, "real floating": FLOATING, "complex floating": COMPLEX}.get(
        kind
    )
    return d.category >= INTEGER if category is None else d.category == category


@dataclass(frozen=True, slots=True)
class FloatLimits:
    """Limits of a real floating dtype, as `finfo` gives them."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: dtype


@dataclass(frozen=True, slots=True)
class IntegerLimits:
    """Limits of an integer dtype, as `iinfo` gives them."""

    bits: int
    max: int
    min: int
    dtype: dtype


def finfo(type: dtype | Tensor, /) -> FloatLimits:
    """Limits of a floating dtype, or a tensor's; for a complex one those of its parts.

    Raises:
        TypeError: if it is not floating.
    """
    d = (type.dtype if isinstance(type, Tensor) else type).to_real()
    found = dtypes.finfo(d)
    return FloatLimits(found.bits, found.eps, found.max, found.min, found.smallest_normal, d)


def iinfo(type: dtype | Tensor, /) -> IntegerLimits:
    """Limits of an integer dtype, or a tensor's.

    Raises:
        TypeError: if it is no integer dtype.
    """
    d = type.dtype if isinstance(type, Tensor) else type
    found = dtypes.iinfo(d)
    return IntegerLimits(found.bits, found.max, found.min, d)
