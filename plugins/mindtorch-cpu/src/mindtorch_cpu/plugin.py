"""The plugin: importing this module registers the kernels; the hook describes the backend."""

from __future__ import annotations

import importlib

from mindtorch_core.dispatch.registry import registry
from mindtorch_core.plugins import Backend, hookimpl

from . import creation, ops
from .runtime import RUNTIME

__all__ = ["creation", "mindtorch_backend", "ops"]


def _kernels_of_the_rest() -> None:
    importlib.import_module(f"{__package__}.ops.rest")


registry.rest.when_defined(_kernels_of_the_rest)


@hookimpl
def mindtorch_backend() -> Backend:
    """Describe the backend."""
    return Backend(device="cpu", runtime=RUNTIME, api=1, key="CPU")
