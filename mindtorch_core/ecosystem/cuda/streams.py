"""``torch.cuda.streams``: PyTorch's path of the classes of queues and marks."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name not in ("Event", "ExternalStream", "Stream"):
        raise AttributeError(f"module 'torch.cuda.streams' has no attribute {name!r}", name=name)
    return getattr(import_module("mindtorch_core.ecosystem.cuda"), name)
