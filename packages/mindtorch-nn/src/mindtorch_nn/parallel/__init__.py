"""Modules on several devices and in several processes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .data_parallel import DataParallel, data_parallel

if TYPE_CHECKING:
    from .distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]


def _late(name: str) -> Any:
    if name == "DistributedDataParallel":  # it loads `torch.distributed`
        found = importlib.import_module(f"{__name__}.distributed").DistributedDataParallel
        globals()[name] = found
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = _late


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
