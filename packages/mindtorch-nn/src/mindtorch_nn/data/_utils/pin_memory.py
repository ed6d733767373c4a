"""Page-locked copies of batches, for devices that copy faster from such memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.utils._own_frames import warn_user

from .collate import _mapping_like, _sequence_like

__all__ = ["pin_memory", "pins"]


def pins(asked: bool, device: str) -> bool:
    """Whether batches are to be page-locked: only where there is a device that is the better for it."""
    if not asked:
        return False
    if device:
        warn_user(
            "pin_memory_device is deprecated, the current accelerator will be used as the device,"
            f"ignore pin_memory_device='{device}'."
        )
    accelerator = getattr(torch, "accelerator", None)
    found = accelerator and accelerator.current_accelerator(check_available=True)
    if found and found.type != "cpu" and hasattr(Tensor, "pin_memory"):
        return True
    warn_user(
        "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory "
        "won't be used."
    )
    return False


def pin_memory(data: Any) -> Any:
    """A batch whose tensors are page-locked."""
    if isinstance(data, Tensor) or hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, Mapping):
        return _mapping_like(data, {key: pin_memory(data[key]) for key in data})
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _sequence_like(data, [pin_memory(each) for each in data])
    return data
