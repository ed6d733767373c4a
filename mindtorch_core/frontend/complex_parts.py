"""Real and imaginary parts of tensors, as attributes that are read and written."""

from __future__ import annotations

from typing import Any

from ..dispatch.functions import fn
from ..tensors.attached import attach
from ..tensors.tensor import Tensor
from ..values.dtypes import COMPLEX

__all__: list[str] = []


def _real(self: Tensor) -> Any:
    """The real part; the tensor itself where it is real. What is assigned is copied into it."""
    return fn._real(self) if self._dtype.category == COMPLEX else self


def _imag(self: Tensor) -> Any:
    """The imaginary part of a complex tensor, a view. What is assigned is copied into it."""
    return fn.imag(self)


def _set_real(self: Tensor, value: Any) -> None:
    _real(self)[...] = value


def _set_imag(self: Tensor, value: Any) -> None:
    _imag(self)[...] = value


attach(__name__, {"imag": property(_imag, _set_imag), "real": property(_real, _set_real)})
