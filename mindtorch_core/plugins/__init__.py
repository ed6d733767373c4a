"""Backends as plugins: what they implement, how they are found, loaded and refused.

A backend is a distribution with an entry point in the group ``mindtorch.backends`` whose name is
its device name and whose value is a module. The module implements the hooks of
`mindtorch_core.plugins.hookspecs`. Backends are loaded one by one, when their device (or the whole
registry) is first asked for.
"""

from .backend import PLUGIN_API, Backend
from .hookspecs import hookimpl
from .loader import BackendStatus, backends, load, load_all, unload

__all__ = [
    "PLUGIN_API",
    "Backend",
    "BackendStatus",
    "backends",
    "hookimpl",
    "load",
    "load_all",
    "unload",
]
