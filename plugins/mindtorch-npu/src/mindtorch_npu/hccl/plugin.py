"""What the core loads: the hook that describes the engine. HCCL is loaded when processes are connected."""

from __future__ import annotations

from mindtorch_core.communication import Engine
from mindtorch_core.plugins import hookimpl

from .engine import HCCLEngine

__all__ = ["mindtorch_communicator"]

_ENGINE = HCCLEngine()


@hookimpl
def mindtorch_communicator() -> Engine:
    """Describe the engine."""
    return _ENGINE
