"""What ``torch.<device>`` shows for a backend that brings no module of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..devices import device as Device
from ..dispatch.pipeline.context import flush_current
from ..dtypes import dtype
from ..random import default_generator
from ..runtime import Runtime
from ..tensor import Tensor

__all__ = ["DeviceModule"]


class DeviceModule:
    """Device functions around a runtime, under PyTorch's names."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def is_available(self) -> bool:
        """Whether there is a device of this type."""
        return self._runtime.device_count() > 0

    def device_count(self) -> int:
        """Number of devices of this type."""
        return self._runtime.device_count()

    def current_device(self) -> int:
        """Index of this thread's current device."""
        return self._runtime.current_device()

    def set_device(self, index: Device | str | int) -> None:
        """Make a device current for this thread."""
        self._runtime.set_device(self._at(index).index or 0)

    @contextmanager
    def device(self, index: Device | str | int) -> Iterator[None]:
        """Make a device current while the block lasts."""
        previous = self._runtime.current_device()
        self.set_device(index)
        try:
            yield
        finally:
            self._runtime.set_device(previous)

    def synchronize(self, device: Device | str | int | None = None) -> None:
        """Launch what this thread's pipeline has recorded and wait for a device's queued work."""
        flush_current()
        self._runtime.synchronize(None if device is None else self._at(device))

    def memory_stats(self, device: Device | str | int | None = None) -> dict[str, int]:
        """Counters of the device's allocator."""
        return self._runtime.memory_stats(self._at(device))

    def empty_cache(self) -> None:
        """Return memory that the allocator keeps for later to the system."""
        self._runtime.empty_cache()

    def get_device_properties(self, device: Device | str | int | None = None) -> dict[str, Any]:
        """Facts about a device."""
        return self._runtime.properties(self._at(device))

    def get_amp_supported_dtype(self) -> list[dtype]:
        """The dtypes that `torch.autocast` may use on devices of this type."""
        return list(self._runtime.autocast_dtypes)

    def manual_seed(self, seed: int) -> None:
        """Seed the current device's default generator."""
        default_generator(self._at(None)).manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        """Seed the default generators of all devices of this type."""
        for index in range(self._runtime.device_count()):
            default_generator(self._at(index)).manual_seed(seed)

    def initial_seed(self) -> int:
        """Seed of the current device's default generator."""
        return default_generator(self._at(None)).initial_seed()

    def get_rng_state(self, device: Device | str | int | None = None) -> Tensor:
        """Position of a device's default generator."""
        return default_generator(self._at(device)).get_state()

    def set_rng_state(self, new_state: Tensor, device: Device | str | int | None = None) -> None:
        """Go back to a position of a device's default generator."""
        default_generator(self._at(device)).set_state(new_state)

    def _at(self, index: Device | str | int | None) -> Device:
        type = self._runtime.type
        wanted = Device(type, index) if isinstance(index, int) else Device(index or type)
        if wanted.type != type:
            raise ValueError(f"expected a {type} device, got {wanted}")
        return self._runtime.concrete_device(wanted)

    def __repr__(self) -> str:
        return f"<device functions of {self._runtime.type}>"
