"""What modules outside mindtorch-nn call of PyTorch's compiled part."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["_parse_to"]


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """Device, dtype, non_blocking and memory_format of the arguments of ``Module.to``."""
    found: tuple[Any, Any, bool, Any] = import_module("mindtorch_nn.modules.conversion")._parse_to(
        *args, **kwargs
    )
    return found
