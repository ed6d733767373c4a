"""The plugin: the hooks describe the backend and register its kernels."""

from __future__ import annotations

from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.plugins import Backend, hookimpl

from . import ops
from .runtime import RUNTIME

__all__ = ["mindtorch_backend", "mindtorch_register"]


@hookimpl
def mindtorch_backend() -> Backend:
    """Describe the backend."""
    return Backend(
        device="meta", runtime=RUNTIME, api=2, key="Meta", known_failures="known_failures.txt"
    )


@hookimpl
def mindtorch_register(key: DispatchKey) -> None:
    """Register the kernels."""
    ops.register_all(key)
