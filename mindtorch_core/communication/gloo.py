"""`ProcessGroupGloo`: groups by the name of an engine of PyTorch's, on what moves the CPU's tensors here."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from .beginning import DEFAULT_PG_TIMEOUT, for_device
from .process_group import ProcessGroup
from .stores import PrefixStore, Store

__all__ = ["ProcessGroupGloo", "face"]


class _Device:
    """What a group would send by; the engine that is installed chooses itself."""

    def __init__(self, hostname: str = "", interface: str = "") -> None:
        self.hostname, self.interface = hostname, interface


class _Options:
    """Options of a group.

    Attributes:
        _timeout: of each call.
        _devices: taken for PyTorch's sake.
        _threads: taken for PyTorch's sake.
        backend: the name.
        global_ranks_in_group: taken for PyTorch's sake.
        group_name: the group's, if it has one.
    """

    backend = "gloo"

    def __init__(self) -> None:
        self._timeout: timedelta | float = DEFAULT_PG_TIMEOUT
        self._devices: list[Any] = []
        self._threads = 2
        self.global_ranks_in_group: list[int] = []
        self.group_name = ""


class ProcessGroupGloo(ProcessGroup):
    """Processes that meet by a store, whether there is a default group or not. All of them make it together.

    Args:
        store: where they meet; each group needs one of its own, as by `PrefixStore`.
        rank: this process's position.
        size: how many there are.
        timeout: of each call; or options that have it.
    """

    Device, Options, _Options = _Device, _Options, _Options

    def __init__(
        self, store: Store, rank: int, size: int, timeout: Any = DEFAULT_PG_TIMEOUT
    ) -> None:
        self.options = timeout if isinstance(timeout, _Options) else _Options()
        limit = self.options._timeout if isinstance(timeout, _Options) else timeout
        limit = limit if isinstance(limit, timedelta) else timedelta(seconds=limit)
        engine = for_device("cpu")
        own = PrefixStore(engine.name, store)
        communicator = engine.connect(rank, size, own, limit.total_seconds())
        super().__init__(
            self.options.group_name or "gloo", range(size), rank, backend="gloo",
            engines={"cpu": engine}, communicators={"cpu": communicator}, store=store, timeout=limit,
            desc="undefined",
        )  # fmt: skip

    @staticmethod
    def create_device(
        hostname: str = "", interface: str = "", lazy_init: bool | None = None
    ) -> _Device:
        """A device of options, which chooses nothing here."""
        return _Device(hostname, interface)

    @staticmethod
    def create_default_device(lazy_init: bool | None = None) -> _Device:
        """A device of options, which chooses nothing here."""
        return _Device()

    def _set_default_timeout(self, timeout: timedelta) -> None:
        self.timeout = timeout


def face(group: Any) -> ProcessGroupGloo:
    """The group as a `ProcessGroupGloo`: what one is told, the other knows."""
    made = object.__new__(ProcessGroupGloo)
    made.__dict__ = group.__dict__
    made.__dict__.setdefault("options", _Options())
    return made
