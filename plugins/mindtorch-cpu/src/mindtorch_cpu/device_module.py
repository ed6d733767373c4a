"""What ``torch.cpu`` shows."""

from __future__ import annotations

from typing import Any

from mindtorch_core import current_pipeline

from .runtime import RUNTIME

__all__ = ["current_device", "device_count", "is_available", "synchronize"]


def is_available() -> bool:
    """Whether the device can be used: always."""
    return True


def device_count() -> int:
    """Number of devices: one."""
    return RUNTIME.device_count()


def current_device() -> str:
    """The current device."""
    return "cpu"


def synchronize(device: Any = None) -> None:
    """Launch what the open pipeline has recorded; eager ops have finished when they return."""
    pipe = current_pipeline()
    if pipe is not None:
        pipe.flush()
