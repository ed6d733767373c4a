"""The plugin: the hooks describe the backend and register its kernels."""

from __future__ import annotations

import functools

from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.plugins import Backend, Diagnosis, hookimpl

from . import creation, ops
from .runtime import RUNTIME

__all__ = [
    "creation",
    "mindtorch_backend",
    "mindtorch_cache",
    "mindtorch_doctor",
    "mindtorch_native",
    "mindtorch_register",
    "ops",
]


@hookimpl
def mindtorch_backend() -> Backend:
    """Describe the backend."""
    return Backend(device="cpu", runtime=RUNTIME, api=2, key="CPU")


@hookimpl
def mindtorch_register(key: DispatchKey) -> None:
    """Register the kernels, those of ops that are defined on demand when that happens."""
    registry.when_defined(functools.partial(ops.register, key))


@hookimpl
def mindtorch_doctor() -> Diagnosis:
    """Say whether compiled kernels are used; NumPy serves in any case."""
    from .native.showing import condition

    return Diagnosis(True, f"devices: 1\ncompiled kernels: {condition()}")


@hookimpl
def mindtorch_cache(clear: bool) -> str:
    """Say which compiled kernels are on disk, and delete them if asked."""
    from .native.showing import kept

    return kept(clear)


@hookimpl
def mindtorch_native(op: str) -> str:
    """Show the program and the code of an op."""
    from .native.showing import shown

    return shown(op)
