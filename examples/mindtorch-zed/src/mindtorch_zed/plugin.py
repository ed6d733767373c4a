"""What the entry point names: the hooks. They are called once, when the device is first asked for."""

from __future__ import annotations

from typing import Any

from mindtorch_core.dispatch.registry import registry
from mindtorch_core.library import cpu_fallback
from mindtorch_core.plugins import Backend, hookimpl

from .kernels import KERNELS
from .runtime import RUNTIME

__all__ = ["mindtorch_backend", "mindtorch_register"]


@hookimpl
def mindtorch_backend() -> Backend:
    """Describe the backend. Its key is fixed: no other backend of the process can have it."""
    return Backend(
        device="zed",
        runtime=RUNTIME,
        api=2,
        key="PrivateUse3",
        known_failures="known_failures.txt",
    )


@hookimpl
def mindtorch_register(key: Any) -> None:
    """Register the kernels at the key that the device was given."""
    for name, kernel in KERNELS.items():
        registry.register_kernel(name, key, kernel)
    registry.register_fallback(key, cpu_fallback)  # where there is neither kernel nor decomposition
