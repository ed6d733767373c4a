"""Backends as plugins: what they implement, how they are found, loaded and refused.

A backend is a distribution with an entry point in the group ``mindtorch.backends`` whose name is
its device name and whose value is a module. The module implements the hooks of
`mindtorch_core.plugins.hookspecs`. Backends are loaded one by one, when their device (or the whole
registry) is first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ..frontend.aliases import alias
from .device_module import DeviceModule
from .loader import BackendStatus, backends, load, load_all, unload
from .versions import OLDEST_PLUGIN_API, PLUGIN_API

if TYPE_CHECKING:
    from .backend import Backend
    from .diagnosis import Diagnosis, diagnose
    from .hookspecs import hookimpl
    from .numerics import Numerics

__all__ = [
    "OLDEST_PLUGIN_API",
    "PLUGIN_API",
    "Backend",
    "BackendStatus",
    "DeviceModule",
    "Diagnosis",
    "Numerics",
    "alias",
    "backends",
    "diagnose",
    "hookimpl",
    "load",
    "load_all",
    "unload",
]


# Not part of the core's import, as pluggy and dataclasses are none.
_ON_DEMAND = {
    "Backend": "backend",
    "Diagnosis": "diagnosis",
    "Numerics": "numerics",
    "diagnose": "diagnosis",
    "hookimpl": "hookspecs",
}


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        found = getattr(importlib.import_module(f"{__name__}.{_ON_DEMAND[name]}"), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
