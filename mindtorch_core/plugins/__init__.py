"""Backends as plugins: what they implement, how they are found, loaded and refused.

A backend is a distribution with an entry point in the group ``mindtorch.backends`` whose name is
its device name and whose value is a module. The module implements the hooks of
`mindtorch_core.plugins.hookspecs`. Backends are loaded one by one, when their device (or the whole
registry) is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .backend import PLUGIN_API, Backend
from .diagnosis import Diagnosis, diagnose
from .loader import BackendStatus, backends, load, load_all, unload

if TYPE_CHECKING:
    from .hookspecs import hookimpl

__all__ = [
    "PLUGIN_API",
    "Backend",
    "BackendStatus",
    "Diagnosis",
    "backends",
    "diagnose",
    "hookimpl",
    "load",
    "load_all",
    "unload",
]


def __getattr__(name: str) -> Any:
    if name == "hookimpl":  # imported by plugins only: pluggy is no part of the core's import
        from .hookspecs import hookimpl

        globals()[name] = hookimpl
        return hookimpl
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
