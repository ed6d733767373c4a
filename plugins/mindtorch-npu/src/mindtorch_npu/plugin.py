"""The plugin: the hooks describe the backend and register its kernels. No hardware is touched."""

from __future__ import annotations

from typing import Any

from mindtorch_core.dispatch.registry import registry
from mindtorch_core.plugins import Backend, Diagnosis, hookimpl

from . import aclnn, ops
from .device_module import MODULE
from .fallback import fallback
from .runtime import RUNTIME

__all__ = ["mindtorch_backend", "mindtorch_doctor", "mindtorch_register"]


@hookimpl
def mindtorch_backend() -> Backend:
    """Describe the backend."""
    return Backend(device="npu", runtime=RUNTIME, api=2, key="NPU", module=MODULE)


@hookimpl
def mindtorch_register(key: Any) -> None:
    """Register the kernels."""
    aclnn.install(RUNTIME)
    registry.register_fallback(key, fallback)
    ops.register(key)


@hookimpl
def mindtorch_doctor() -> Diagnosis:
    """Examine the toolkit and the devices."""
    from .doctor import diagnose

    return diagnose()
