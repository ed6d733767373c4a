"""Modules on several devices and in several processes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .data_parallel import DataParallel, data_parallel

if TYPE_CHECKING:
    from .distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]


# Functions that divide work among devices, and the modules at PyTorch's paths that have them.
_OF_DEVICES = {
    "gather": "scatter_gather",
    "parallel_apply": "parallel_apply",
    "replicate": "replicate",
    "scatter": "scatter_gather",
}


def _late(name: str) -> Any:
    if name == "DistributedDataParallel":  # it loads `torch.distributed`
        found = importlib.import_module(f"{__name__}.distributed").DistributedDataParallel
        globals()[name] = found
        return found
    if name in _OF_DEVICES:
        inner = importlib.import_module(f"mindtorch_core.nn.parallel.{_OF_DEVICES[name]}")
        return getattr(inner, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = _late


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
