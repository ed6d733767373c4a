"""The plugin: importing this module registers the kernels; the hook describes the backend."""

from __future__ import annotations

from mindtorch_core.plugins import Backend, hookimpl

from . import ops
from .runtime import RUNTIME

__all__ = ["mindtorch_backend", "ops"]


@hookimpl
def mindtorch_backend() -> Backend:
    """Describe the backend."""
    return Backend(
        device="meta", runtime=RUNTIME, api=1, key="Meta", known_failures="known_failures.txt"
    )
