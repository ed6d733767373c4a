"""``torch.cuda`` as a module: the functions of such devices, or that there are none."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ...values.errors import OutOfMemoryError
from ..device_faces import show
from ..process_settings import AcceleratorError
from . import amp

__all__ = [
    "AcceleratorError", "CudaError", "DeferredCudaCallError", "OutOfMemoryError", "amp", "cudaStatus",
]  # fmt: skip


class CudaError(RuntimeError):
    """A number that CUDA's functions return for a failure: nothing raises it here."""

    def __init__(self, code: int) -> None:
        super().__init__(f"CUDA's error {code}")


class DeferredCudaCallError(Exception):
    """A failure of what waited for CUDA to be initialised: nothing raises it here."""


class cudaStatus:
    """Numbers that CUDA's functions return."""

    SUCCESS: int = 0
    ERROR_NOT_READY: int = 34


def _lazy_call(callable: Callable[[], Any], **kwargs: Any) -> None:
    """Call what waits until the devices are used, if there are any: they are ready.

    Args:
        callable: a function without arguments.
        kwargs: what PyTorch orders the calls by.
    """
    if getattr(sys.modules[__name__], "is_available")():  # noqa: B009
        callable()


show(__name__)
