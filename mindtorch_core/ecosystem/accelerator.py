"""The machine's accelerator: the devices beside the host, whichever installed backend serves them.

The environment variable ``MINDTORCH_ACCELERATOR`` chooses where several are installed;
``mindtorch run --device`` sets it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..plugins.loader import numerics_of
from ..values.devices import DeviceRow, accelerators, chosen_accelerator, device, row_of
from ..values.dtypes import DTYPES
from ..values.interrupts import contextmanager

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "empty_host_cache",
    "get_device_capability",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]


def _row() -> DeviceRow | None:
    """The accelerator's row: the chosen one, or the first that is installed and has a device."""
    chosen = chosen_accelerator()
    if chosen:
        return row_of(chosen)
    return next(iter(accelerators()), None)


def _module() -> Any:
    """The accelerator's functions.

    Raises:
        RuntimeError: if there is no accelerator.
    """
    row = _row()
    if row is None:
        raise RuntimeError(
            "Cannot access accelerator device when none is available: no installed backend but the "
            "CPU's has a device. See `mindtorch backends`."
        )
    return row.module


def current_accelerator(check_available: bool = False) -> device | None:
    """The accelerator's device, without an index; None if there is none.

    Args:
        check_available: None also for an accelerator that has no device.
    """
    row = _row()
    if row is None or (check_available and row.runtime.device_count() == 0):
        return None
    return device(row.type)


def is_available() -> bool:
    """Whether there is an accelerator with a device."""
    return device_count() > 0


def device_count() -> int:
    """How many devices the accelerator has; 0 without one."""
    row = _row()
    return 0 if row is None else row.runtime.device_count()


def current_device_index() -> int:
    """Index of this thread's current device."""
    index: int = _module().current_device()
    return index


current_device_idx = current_device_index


def _index(of: device | str | int | None) -> int | None:
    """The index of a device of the accelerator.

    Raises:
        ValueError: if it is of another type.
    """
    if of is None or isinstance(of, int):
        return of
    on, row = device(of), _row()
    if row is not None and on.type != row.type:
        raise ValueError(f"{on.type} doesn't match the current accelerator {row.type}.")
    return on.index


def set_device_index(device: device | str | int, /) -> None:
    """Make a device current for this thread."""
    _module().set_device(_index(device))


set_device_idx = set_device_index


@contextmanager
def device_index(device: int | None, /) -> Iterator[None]:
    """Make a device current while the block lasts; None changes nothing."""
    if device is None:
        yield
        return
    with _module().device(device):
        yield


def current_stream(device: device | str | int | None = None, /) -> Any:
    """The stream on which this thread's ops are queued on a device."""
    return _module().current_stream(_index(device))


def set_stream(stream: Any, /) -> None:
    """Make a stream, and its device, current for this thread."""
    _module().set_stream(stream)


def synchronize(device: device | str | int | None = None, /) -> None:
    """Wait for all work that is queued on a device."""
    _module().synchronize(_index(device))


def empty_cache() -> None:
    """Return memory that the allocator keeps for later to the system; nothing without an accelerator."""
    row = _row()
    if row is not None:
        row.module.empty_cache()


def empty_host_cache() -> None:
    """Return pinned memory that is kept for later to the system: none is, it goes with its last tensor."""


def get_device_capability(device: device | str | int | None = None, /) -> dict[str, Any]:
    """What a device can do: ``supported_dtypes``, the dtypes of its tensors, as its backend declares them.

    Raises:
        RuntimeError: if there is no accelerator.
        ValueError: if the device is of another type.
    """
    _module()
    _index(device)
    row = _row()
    without = () if row is None else numerics_of(row.type).without
    return {"supported_dtypes": {each for name, each in DTYPES.items() if name not in without}}


def memory_stats(device: device | str | int | None = None, /) -> dict[str, int]:
    """Counters of a device's allocator."""
    stats: dict[str, int] = _module().memory_stats(_index(device))
    return stats


def _counter(name: str) -> Any:
    def ask(device: device | str | int | None = None, /) -> int:
        found: int = getattr(_module(), name)(_index(device))
        return found

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = f"`{name}` of the accelerator's module: bytes of a device's memory."
    return ask


memory_allocated = _counter("memory_allocated")
max_memory_allocated = _counter("max_memory_allocated")
memory_reserved = _counter("memory_reserved")
max_memory_reserved = _counter("max_memory_reserved")


def reset_peak_memory_stats(device: device | str | int | None = None, /) -> None:
    """Let the peaks start anew from the present values."""
    _module().reset_peak_memory_stats(_index(device))


def reset_accumulated_memory_stats(device: device | str | int | None = None, /) -> None:
    """Let the totals start anew from zero."""
    _module().reset_accumulated_memory_stats(_index(device))


def get_memory_info(device: device | str | int | None = None, /) -> tuple[int, int]:
    """Free and total bytes of a device, whoever uses them."""
    found: tuple[int, int] = _module().mem_get_info(_index(device))
    return found
