"""The hooks a backend implements. They run once, at loading; no op ever calls a hook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pluggy

if TYPE_CHECKING:
    from ..communication.engine import Engine
    from ..dispatch.keys import DispatchKey
    from .backend import Backend
    from .diagnosis import Diagnosis

__all__ = ["PROJECT", "hookimpl", "hookspec"]

PROJECT: Final = "mindtorch"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def mindtorch_backend() -> Backend:  # type: ignore[empty-body]
    """Describe the backend. Must not touch hardware. Required."""


@hookspec
def mindtorch_register(key: DispatchKey) -> None:
    """Register kernels at the dispatch key that the backend was given.

    Called after the key and the device name are reserved, inside the loading transaction. A
    backend with a fixed key may register when its module is imported instead. Optional.
    """


@hookspec
def mindtorch_doctor() -> Diagnosis:  # type: ignore[empty-body]
    """Examine what the backend needs: libraries, drivers, devices. Must not raise. Optional.

    It answers the command ``mindtorch doctor``, and may load libraries and use devices.
    """


@hookspec
def mindtorch_cache(clear: bool) -> str:  # type: ignore[empty-body]
    """Say what the backend keeps on disk for later processes, and delete it first if asked. Optional.

    It answers the command ``mindtorch cache``.
    """


@hookspec
def mindtorch_native(op: str) -> str:  # type: ignore[empty-body]
    """Show the program that the backend compiles for an op, as text, or say why there is none. Optional.

    It answers ``mindtorch explain --native``.
    """


@hookspec
def mindtorch_communicator() -> Engine:  # type: ignore[empty-body]
    """Describe what moves tensors between processes. Must not start it.

    Required of modules in the group ``mindtorch.communicators``, which are no backends.
    """
