"""``torch.cuda.memory``: PyTorch's path of the functions for memory."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_WORDS = ("memory", "Mem", "empty_cache", "allocator", "Allocator", "gpu_processes", "mem_")


def __getattr__(name: str) -> Any:
    if name.startswith("__") or not any(word in name for word in _WORDS):
        raise AttributeError(f"module 'torch.cuda.memory' has no attribute {name!r}", name=name)
    return getattr(import_module("mindtorch_core.ecosystem.cuda"), name)
