"""What the core loads: the hook that describes the engine. MPI starts when processes are connected."""

from __future__ import annotations

from mindtorch_core.communication import Engine
from mindtorch_core.plugins import hookimpl

from .engine import MPIEngine

__all__ = ["mindtorch_communicator"]

_ENGINE = MPIEngine()


@hookimpl
def mindtorch_communicator() -> Engine:
    """Describe the engine."""
    return _ENGINE
