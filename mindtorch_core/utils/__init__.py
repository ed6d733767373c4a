"""Names that PyTorch keeps under ``torch.utils``; modules are imported when they are first used."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ..frontend import companion, surroundings
from ..frontend.swapping import swap_tensors

__all__ = ["swap_tensors"]

_MODULES = frozenset({"_python_dispatch", "_pytree", "checkpoint", "dlpack", "hooks"})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    # Of the distribution mindtorch-nn, or of the room `ecosystem`.
    if name == "data" or name in surroundings.OF_UTILS:
        return companion.module_at(f"{__name__}.{name}")
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__]
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, "data"})
