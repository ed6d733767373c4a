"""Types that annotations name."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from ..tensors.storage import Storage
from ..tensors.tensor import Tensor
from ..values.devices import device as _device
from ..values.dtypes import dtype as _Dtype
from ..values.shapes import Size

__all__ = ["Device", "FileLike", "Number", "Storage", "Tensor"]

Number = builtins.int | builtins.float | builtins.bool
Device = _device | builtins.str | builtins.int | None
FileLike = Any
_TensorOrTensors = Tensor | Sequence[Tensor]
_int, _float, _bool, _complex, _str = (
    builtins.int, builtins.float, builtins.bool, builtins.complex, builtins.str,
)  # fmt: skip
_dtype = _Dtype
_size = Size | list[builtins.int] | tuple[builtins.int, ...]
_symint = builtins.int
