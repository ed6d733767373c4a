"""Engines that a program registers itself, by `Backend.register_backend`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, Final

from .engine import COMMUNICATOR_API, Communicator, Engine
from .stores import Store

__all__ = ["Registered"]

_REDUCIBLE: Final = "float32 float64 int8 int16 int32 int64 uint8"


class Registered(Engine):
    """An engine whose communicators a function makes.

    Args:
        name: what `init_process_group` is told.
        create: takes a store, the rank, the number of processes and a timeout.
        devices: types of devices whose memory the communicators move.
        extended: whether ``create`` takes an object with these as attributes, and options, as PyTorch's
            extended functions do.
    """

    api = COMMUNICATOR_API
    reducible = frozenset(_REDUCIBLE.split())

    def __init__(
        self, name: str, create: Callable[..., Any], devices: tuple[str, ...], *, extended: bool
    ) -> None:
        self.name, self.devices = name, devices
        self._create, self._extended = create, extended

    def connect(self, rank: int, size: int, store: Store, timeout: float) -> Communicator:
        """Connect all processes.

        Raises:
            TypeError: if the function makes anything but a `Communicator`.
        """
        limit = timedelta(seconds=timeout)
        if self._extended:
            about = SimpleNamespace(
                store=store, group_rank=rank, group_size=size, timeout=limit, group_id="0",
                global_ranks_in_group=[*range(size)],
            )  # fmt: skip
            made = self._create(about, None)
        else:
            made = self._create(store, rank, size, limit)
        if not isinstance(made, Communicator):
            raise TypeError(
                f"the function registered for the backend {self.name!r} must give a Communicator of "
                f"mindtorch_core.communication, got {type(made).__name__}"
            )
        return made
