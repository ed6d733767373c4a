"""What becomes of the tensors of a backend that is unloaded: they refuse everything, and say why.

Their dispatch key may be given to another backend, whose kernels must never get their memory.
"""

from __future__ import annotations

import gc
from typing import Any, NoReturn

from ..autograd.roots import forget_ones
from ..dispatch.pipeline.context import flush_current
from ..errors import BackendUnavailableError
from ..random import forget_generators
from ..storage import Storage
from ..tensor import Tensor

__all__ = ["retire"]


def _refuse(on: Any) -> NoReturn:
    raise BackendUnavailableError(
        f"this tensor was made on {on}, whose backend was unloaded: make it anew", device=on.type
    )


class _RetiredTensor(Tensor):
    """A tensor of a backend that was unloaded."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        _refuse(object.__getattribute__(self, "_device"))

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"<tensor on {object.__getattribute__(self, '_device')}, whose backend was unloaded>"


class _RetiredStorage(Storage):
    """A storage of a backend that was unloaded."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        _refuse(object.__getattribute__(self, "device"))

    def __repr__(self) -> str:
        return f"<Storage on {object.__getattribute__(self, 'device')}, whose backend was unloaded>"


def retire(device: str) -> None:
    """Make the tensors of a device type unusable, and forget what is kept for it."""
    flush_current()
    forget_generators(device)
    forget_ones(device)
    gc.collect()
    for found in gc.get_objects():
        kind = type(found)
        if issubclass(kind, Tensor) and kind is not _RetiredTensor:
            if found._device.type == device:
                found.__class__ = _RetiredTensor
        elif kind is Storage and found.device.type == device:
            found.__class__ = _RetiredStorage
