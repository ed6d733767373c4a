"""Names that PyTorch keeps under ``torch.utils``; modules are imported when they are first used."""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = frozenset({"_python_dispatch", "checkpoint", "dlpack", "hooks"})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
