"""What the entry point names: the hooks. They are called once, when the device is first asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mindtorch_core.dispatch.registry import registry
from mindtorch_core.library import cpu_fallback
from mindtorch_core.plugins import Backend, Diagnosis, hookimpl

from .chip import ARENA_BYTES
from .kernels import KERNELS
from .module import MODULE
from .ops import define_ops
from .runtime import RUNTIME

__all__ = ["mindtorch_backend", "mindtorch_doctor", "mindtorch_register"]


@hookimpl
def mindtorch_backend() -> Backend:
    """Describe the backend."""
    return Backend(device="acme", runtime=RUNTIME, api=2, module=MODULE)


@hookimpl
def mindtorch_register(key: Any) -> None:
    """Register the kernels at the key that the device was given.

    Those of ops that are defined on demand wait until then: loading defines no op.
    """
    registry.when_defined(lambda names: register(key, names))
    define_ops(key)
    registry.register_fallback(key, cpu_fallback)  # factorizations and the like, which have none


def register(key: Any, names: Iterable[str]) -> None:
    """Register the kernels of some ops, which are named as in ``aten::add``."""
    for name in names:
        kernel = KERNELS.get(name.removeprefix("aten::"))
        if kernel is not None:
            registry.register_kernel(name, key, kernel)


@hookimpl
def mindtorch_doctor() -> Diagnosis:
    """Say what there is."""
    count = RUNTIME.device_count()
    return Diagnosis(count > 0, f"{count} simulated chips of {ARENA_BYTES >> 20} MiB")
