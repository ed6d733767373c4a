"""The package under its former name: ``mindtorch_npu.ascend`` has what `mindtorch_npu` has."""

from __future__ import annotations

import importlib
from typing import Any, Final

_PACKAGE: Final = importlib.import_module("mindtorch_npu")

__all__ = list(_PACKAGE.__all__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(_PACKAGE, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
