"""Modules and what they need: the names of ``torch.nn`` beside ``torch.nn.functional``."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import init, modules, parameter
from .modules import *  # noqa: F403
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

if TYPE_CHECKING:
    from . import parallel, utils
    from .parallel import DataParallel

__all__ = [
    *modules.__all__,
    "Buffer",
    "DataParallel",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "init",
    "modules",
    "parallel",
    "parameter",
    "utils",
]

# What is imported when it is first used.
_LAZY = frozenset({"attention", "parallel", "utils"})


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "DataParallel":
        return importlib.import_module(f"{__name__}.parallel").DataParallel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_LAZY})
