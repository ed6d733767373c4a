"""Ascend NPUs as a mindtorch backend, through the C libraries of CANN.

The package shows what ``torch.npu`` shows, and its parts by name. Importing it loads neither the
toolkit nor the kernels.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

__version__ = "0.1.0"

_PARTS: Final = ("acl", "acl_loader", "aclnn", "creation", "ops", "runtime")
# A list, not what the module has: to look there would import it in the middle of its own import.
_FUNCTIONS: Final = (
    "Event",
    "OutOfMemoryError",
    "Stream",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_amp_supported_dtype",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "get_soc_name",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
)

__all__ = [*_PARTS, *_FUNCTIONS]


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(f"{__name__}.device_module").MODULE, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
