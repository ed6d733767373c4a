"""Communicator plugins: found, loaded and refused as backends are, by the entry-point group of theirs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from ..plugins.loader import BackendStatus, Loader
from ..values.errors import BackendUnavailableError
from .backend_names import Backend
from .engine import COMMUNICATOR_API, Engine
from .fake import FAKE
from .registered import Registered

if TYPE_CHECKING:
    from importlib_metadata import EntryPoint

__all__ = ["GROUP", "VARIABLE", "communicators", "engine", "installed"]

GROUP: Final = "mindtorch.communicators"
VARIABLE: Final = "MINDTORCH_COMMUNICATORS"


class _Engines(Loader):
    """The process's engines, by entry point."""

    group = GROUP
    variable = VARIABLE
    kind = "communicator"

    def __init__(self) -> None:
        super().__init__()
        self.engines: dict[str, Engine] = {}

    def _load(self, ep: EntryPoint, status: BackendStatus) -> None:
        _, engine = self.description(
            ep,
            "mindtorch_communicator",
            Engine,  # type: ignore[type-abstract]  # for isinstance
        )
        if not 1 <= engine.api <= COMMUNICATOR_API:
            raise RuntimeError(
                f"it was built for communicator API {engine.api}, and this mindtorch-core serves API "
                f"1 to {COMMUNICATOR_API}"
            )
        if engine.name != ep.name:
            raise ValueError(f"the entry point {ep.name!r} gives an engine named {engine.name!r}")
        self.engines[ep.name] = engine
        status.device = ", ".join(engine.devices)


_LOADER: Final = _Engines()


def communicators() -> list[BackendStatus]:
    """State of every installed communicator plugin; loads none."""
    with _LOADER.lock:
        return [status for _, status in _LOADER.discover().values()]


def installed() -> list[str]:
    """Names of the communicator plugins that may be used."""
    return [each.name for each in communicators() if each.state not in ("disabled", "failed")]


def engine(name: str) -> Engine:
    """The engine of an installed plugin, which is loaded, one that the program has registered, or ``fake``.

    Raises:
        BackendUnavailableError: if it is not installed, switched off, or cannot be used here.
    """
    if name == FAKE.name:
        return FAKE
    if registered := Backend._plugins.get(name.upper()):
        create, extended = registered
        devices = tuple(Backend.backend_capability[name.lower()])
        return Registered(name, create, devices, extended=extended)
    with _LOADER.lock:
        found = _LOADER.discover()
    if name in found:
        _LOADER.load_entry(name)
    made = _LOADER.engines.get(name)
    package = {"mpi": "mindtorch-mpi", "hccl": "mindtorch-npu"}.get(name)  # mindtorch's own
    if made is None:
        status = found[name][1] if name in found else None
        if status is None:
            why = f"is not installed (installed: {', '.join(sorted(found)) or 'none'})"
        elif status.state == "disabled":
            why = f"is switched off by {VARIABLE}={os.environ.get(VARIABLE, '')}"
        else:
            why = (
                f"failed to load: {type(status.error).__name__}: {status.error} (at {status.place})"
            )
        raise BackendUnavailableError(
            f"the communicator {name!r} {why}."
            + (f"\n  fix: pip install {package}" if package else ""),
            device=name,
            package=package,
        ) from (status.error if status else None)
    missing = made.missing()
    if missing:
        raise BackendUnavailableError(f"the communicator {name!r}: {missing}", device=name)
    return made
