"""Modules and what they need: the names of ``torch.nn`` beside ``torch.nn.functional``."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import init, modules, parameter
from .modules import *  # noqa: F403
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

if TYPE_CHECKING:
    from . import attention, parallel, utils  # noqa: F401
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


def _late(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "DataParallel":
        return importlib.import_module(f"{__name__}.parallel").DataParallel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = _late


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_LAZY})
