"""What ``torch.<device>`` shows for a backend that brings no module of its own."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import Any

from ..deferred.blocks import flush_current
from ..random import checked_seed, default_generator
from ..runtime import Runtime
from ..streams import Stream as AnyStream
from ..streams import StreamContext
from ..tensors.tensor import Tensor
from ..values.devices import device as Device
from ..values.dtypes import bfloat16, dtype
from ..values.interrupts import contextmanager
from .memory_summary import summary

__all__ = ["DeviceModule", "DeviceProperties"]


class DeviceProperties(dict[str, Any]):
    """Facts about a device, as attributes and as items."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(f"the device tells no {name!r}; it tells {', '.join(self)}")

    def __repr__(self) -> str:
        return f"DeviceProperties({', '.join(f'{k}={v!r}' for k, v in self.items())})"


class DeviceModule:
    """Device functions around a runtime, under PyTorch's names."""

    __name__: str  # as a module has it: ``torch.npu``

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    # ---- devices -------------------------------------------------------------------------------

    def is_available(self) -> bool:
        """Whether there is a device of this type."""
        return self._runtime.device_count() > 0

    def device_count(self) -> int:
        """Number of devices of this type."""
        return self._runtime.device_count()

    def current_device(self) -> int:
        """Index of this thread's current device."""
        return self._runtime.current_device()

    def set_device(self, device: Device | str | int) -> None:
        """Make a device current for this thread; a negative number changes nothing."""
        if not _is_negative(device):
            self._runtime.set_device(self._at(device).index or 0)

    @contextmanager
    def device(self, device: Device | str | int | None) -> Iterator[None]:
        """Make a device current while the block lasts; None or a negative number changes nothing."""
        if device is None or _is_negative(device):
            yield
            return
        previous = self._runtime.current_device()
        self.set_device(device)
        try:
            yield
        finally:
            self._runtime.set_device(previous)

    def device_of(self, obj: Any) -> Any:
        """Make a tensor's device current while the block lasts, if it is one of this type."""
        where = getattr(obj, "device", None)
        mine = isinstance(where, Device) and where.type == self._runtime.type
        return self.device(where if mine else None)

    def synchronize(self, device: Device | str | int | None = None) -> None:
        """Launch what this thread's pipeline has recorded and wait for a device's queued work."""
        flush_current()
        self._runtime.synchronize(None if device is None else self._at(device))

    def get_device_properties(self, device: Device | str | int | None = None) -> DeviceProperties:
        """Facts about a device."""
        return DeviceProperties(self._runtime.properties(self._at(device)))

    def get_device_name(self, device: Device | str | int | None = None) -> str:
        """Name of a device."""
        return str(self.get_device_properties(device)["name"])

    def get_amp_supported_dtype(self) -> list[dtype]:
        """The dtypes that `torch.autocast` may use on devices of this type."""
        return list(self._runtime.autocast_dtypes)

    def is_bf16_supported(self) -> bool:
        """Whether `torch.autocast` may use bfloat16."""
        return bfloat16 in self._runtime.autocast_dtypes

    # ---- streams -------------------------------------------------------------------------------

    @property
    def Stream(self) -> type[AnyStream]:
        """The class of the device's streams."""
        return self._runtime.stream_type or AnyStream

    @property
    def Event(self) -> Any:
        """The class of the device's events.

        Raises:
            AttributeError: if the device has none.
        """
        found = self._runtime.event_type
        if found is None:
            raise AttributeError(f"the {self._runtime.type} backend has no events")
        return found

    @property
    def amp(self) -> Any:
        """Autocast and scaling of gradients for these devices, as ``torch.cuda.amp`` for CUDA's.

        Raises:
            AttributeError: if they have no autocast.
        """
        kind = self._runtime.type
        try:
            return importlib.import_module(f"mindtorch_core.{kind}.amp")
        except ModuleNotFoundError:
            pass
        from ..amp import is_autocast_available
        from ..amp.of_device import amp_of

        if not is_autocast_available(kind):
            raise AttributeError(f"torch.{kind} has no autocast, so it has no amp")
        return amp_of(kind)

    def current_stream(self, device: Device | str | int | None = None) -> Any:
        """The stream on which this thread's ops are queued on a device."""
        return self._runtime.current_stream(self._at(device))

    def default_stream(self, device: Device | str | int | None = None) -> Any:
        """The stream that threads use on a device unless they set another."""
        return self._runtime.default_stream(self._at(device))

    def stream(self, stream: Any) -> StreamContext:
        """Make a stream current while the block lasts; None changes nothing."""
        return StreamContext(stream)

    def set_stream(self, stream: Any) -> None:
        """Make a stream, and its device, current for this thread; None changes nothing."""
        if stream is not None:
            StreamContext(stream).__enter__()

    # ---- memory --------------------------------------------------------------------------------

    def memory_stats(self, device: Device | str | int | None = None) -> dict[str, int]:
        """Counters of the device's allocator; none before there is a device."""
        return self._runtime.memory_stats(self._at(device)) if self.is_available() else {}

    def memory_allocated(self, device: Device | str | int | None = None) -> int:
        """Bytes that tensors use."""
        return self.memory_stats(device).get("allocated_bytes.all.current", 0)

    def max_memory_allocated(self, device: Device | str | int | None = None) -> int:
        """The most bytes that tensors have used since the start or the last reset."""
        return self.memory_stats(device).get("allocated_bytes.all.peak", 0)

    def memory_reserved(self, device: Device | str | int | None = None) -> int:
        """Bytes that the allocator holds, for tensors or for reuse."""
        return self.memory_stats(device).get("reserved_bytes.all.current", 0)

    def max_memory_reserved(self, device: Device | str | int | None = None) -> int:
        """The most bytes that the allocator has held since the start or the last reset."""
        return self.memory_stats(device).get("reserved_bytes.all.peak", 0)

    def reset_peak_memory_stats(self, device: Device | str | int | None = None) -> None:
        """Let the peaks start anew from the present values."""
        self._runtime.reset_memory_stats(self._at(device), "peak")

    def reset_accumulated_memory_stats(self, device: Device | str | int | None = None) -> None:
        """Let the totals start anew from zero."""
        self._runtime.reset_memory_stats(self._at(device), "accumulated")

    def empty_cache(self) -> None:
        """Return memory that the allocator keeps for later to the system."""
        flush_current()
        self._runtime.empty_cache()

    def mem_get_info(self, device: Device | str | int | None = None) -> tuple[int, int]:
        """Free and total bytes of a device, whoever uses them."""
        return self._runtime.memory_info(self._at(device))

    def memory_summary(
        self, device: Device | str | int | None = None, abbreviated: bool = False
    ) -> str:
        """The allocator's counters as a table for people."""
        on = self._at(device)
        return summary(self._runtime.memory_stats(on), str(on), abbreviated)

    # ---- random numbers ------------------------------------------------------------------------

    def manual_seed(self, seed: int) -> None:
        """Seed the current device's default generator; does nothing without a device."""
        value = checked_seed(seed)
        if self.is_available():
            default_generator(self._at(None)).manual_seed(value)

    def manual_seed_all(self, seed: int) -> None:
        """Seed the default generators of all devices of this type."""
        value = checked_seed(seed)
        for index in range(self._runtime.device_count()):
            default_generator(self._at(index)).manual_seed(value)

    def seed(self) -> None:
        """Seed the current device's default generator with a number that differs from run to run."""
        if self.is_available():
            default_generator(self._at(None)).seed()

    def seed_all(self) -> None:
        """Seed all default generators alike, with a number that differs from run to run."""
        if self.is_available():
            self.manual_seed_all(default_generator(self._at(0)).seed())

    def initial_seed(self) -> int:
        """Seed of the current device's default generator."""
        return default_generator(self._at(None)).initial_seed()

    def get_rng_state(self, device: Device | str | int | None = None) -> Tensor:
        """Position of a device's default generator."""
        return default_generator(self._at(device)).get_state()

    def set_rng_state(self, new_state: Tensor, device: Device | str | int | None = None) -> None:
        """Go back to a position of a device's default generator."""
        default_generator(self._at(device)).set_state(new_state)

    def get_rng_state_all(self) -> list[Tensor]:
        """Positions of all devices' default generators."""
        return [self.get_rng_state(index) for index in range(self._runtime.device_count())]

    def set_rng_state_all(self, new_states: Iterable[Tensor]) -> None:
        """Go back to positions of all devices' default generators."""
        for index, state in enumerate(new_states):
            self.set_rng_state(state, index)

    def _at(self, index: Device | str | int | None) -> Device:
        type = self._runtime.type
        wanted = Device(type, index) if isinstance(index, int) else Device(index or type)
        if wanted.type != type:
            raise ValueError(f"expected a {type} device, got {wanted}")
        return self._runtime.concrete_device(wanted)

    def __repr__(self) -> str:
        return f"<device functions of {self._runtime.type}>"


def _is_negative(device: object) -> bool:
    """Whether a device was given as a number that stands for none."""
    return isinstance(device, int) and device < 0
