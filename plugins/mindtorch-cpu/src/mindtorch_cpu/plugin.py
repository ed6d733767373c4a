"""The plugin: the hooks describe the backend and register its kernels."""

from __future__ import annotations

import functools
from typing import Any

from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.plugins import Backend, Diagnosis, hookimpl

from . import creation, ops
from .device_module import CPUModule
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
    return Backend(device="cpu", runtime=RUNTIME, api=2, key="CPU", module=CPUModule())


@hookimpl
def mindtorch_register(key: DispatchKey) -> None:
    """Register the kernels, those of ops that are defined on demand when that happens."""
    registry.when_defined(functools.partial(ops.register, key))


@hookimpl
def mindtorch_doctor() -> Diagnosis:
    """Say what multiplies matrices and whether compiled kernels are used; NumPy serves in any case."""
    import numpy as np

    from .native.pool import threads_used
    from .native.showing import condition

    built: Any = np.show_config("dicts")
    blas = built.get("Build Dependencies", {}).get("blas", {})
    library = f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()
    return Diagnosis(
        True,
        f"devices: 1\nNumPy {np.__version__}, its BLAS: {library}\ncompiled kernels: {condition()}\n"
        f"threads of kernels: {threads_used()}",
    )


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
