"""What autocast is set to in this thread: which devices, which dtype, and the cache of casts.

Autocast is on for a device exactly while the thread's include mask holds the device's Autocast key,
so a call that has nothing to do with autocast pays nothing for it. Tensors never carry that key.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ..dispatch.autocast_keys import AUTOCAST_OF
from ..dispatch.keys import MASKS, DispatchKey, set_masks
from ..values.devices import TABLE, DeviceRow, device, row_of
from ..values.dtypes import bfloat16, dtype, float16
from ..values.errors import BackendUnavailableError
from ..values.own_frames import refusing

__all__ = [
    "AutocastDevice",
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "autocast_settings",
    "clear_autocast_cache",
    "get_autocast_dtype",
    "is_autocast_available",
    "is_autocast_cache_enabled",
    "is_autocast_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
]

# PyTorch's choice for these device types; for all others it is bfloat16 here.
_FLOAT16_TYPES: Final = frozenset({"cuda", "ipu", "xpu"})


class AutocastDevice(NamedTuple):
    """A device type that autocast can serve.

    Attributes:
        type: the device type.
        key: its Autocast key.
        row: its row in the device table, or None where no backend is installed.
    """

    type: str
    key: DispatchKey
    row: DeviceRow | None

    def default_dtype(self) -> dtype:
        """The dtype that autocast uses where none was chosen."""
        declared = None if self.row is None else self.row.runtime.autocast_dtype
        if declared is not None:
            return declared
        return float16 if self.type in _FLOAT16_TYPES else bfloat16


class _ThreadState(threading.local):
    """Autocast in one thread; a new thread starts with the defaults.

    Attributes:
        dtypes: the dtype in use by Autocast key, where it was set.
        nesting: number of `autocast` blocks the thread is in.
        cache_enabled: whether casts of weights are kept until the outermost block ends.
        casts: the casts that are kept; see `mindtorch_core.amp.cast`.
    """

    def __init__(self) -> None:
        self.dtypes: dict[DispatchKey, dtype] = {}
        self.nesting = 0
        self.cache_enabled = True
        self.casts: dict[tuple[int, dtype], Any] = {}


STATE: Final = _ThreadState()


# ---- devices -----------------------------------------------------------------------------------


def find_device(device_type: str) -> AutocastDevice | None:
    """What autocast needs to know of a device type; None if it does not serve it.

    Raises:
        RuntimeError: if there is no such device type.
    """
    type = device(device_type).type
    row = TABLE.get(type)
    if row is None:
        try:
            row = row_of(type)
        except BackendUnavailableError:  # a type PyTorch knows that no plugin serves here
            key = next((a for b, a in AUTOCAST_OF.items() if b.name.lower() == type), None)
            return None if key is None else AutocastDevice(type, key, None)
    key = AUTOCAST_OF.get(DispatchKey(row.key))
    return None if key is None else AutocastDevice(type, key, row)


@refusing
def checked_device(function: str, device_type: Any) -> AutocastDevice:
    """The same, or an error for a type that autocast does not serve.

    Raises:
        TypeError: if ``device_type`` is not a string.
        RuntimeError: if there is no such device type, or none with autocast.
    """
    _check_type(function, device_type)
    found = find_device(device_type)
    if found is None:
        raise RuntimeError(
            f"{function}(): autocast is not available on device type '{device_type}'. Use a device "
            f"type for which torch.amp.is_autocast_available(device_type) is True."
        )
    return found


def _check_type(function: str, device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise TypeError(
            f"{function}(): argument 'device_type' (position 1) must be str, not "
            f"{type(device_type).__name__}"
        )


def check_bool(name: str, value: Any) -> None:
    """Refuse what is not a bool.

    Raises:
        TypeError: naming the argument.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be a bool (got {type(value).__name__})")


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast can be used on a device type.

    Raises:
        TypeError: if ``device_type`` is not a string.
        RuntimeError: if there is no such device type.
    """
    _check_type("is_autocast_available", device_type)
    return find_device(device_type) is not None


_ELSEWHERE: Final = frozenset({"hpu", "ipu", "maia", "mps", "mtia", "xla"})

# ---- on and off --------------------------------------------------------------------------------


def autocast_settings() -> Callable[[], None]:
    """What makes everything here as it is now, in this thread; it may be called several times.

    The masks are not among that.
    """
    dtypes, nesting, cache_enabled = dict(STATE.dtypes), STATE.nesting, STATE.cache_enabled

    def restore() -> None:
        STATE.dtypes, STATE.nesting, STATE.cache_enabled = dict(dtypes), nesting, cache_enabled
        if not nesting:
            STATE.casts.clear()

    return restore


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on for a device type in this thread.

    It is off for those that PyTorch serves and no plugin here: libraries go through a list of types.
    """
    if device_type in _ELSEWHERE and find_device(device_type) is None:
        return False
    key = checked_device("is_autocast_enabled", device_type).key
    return bool(MASKS.include & MASKS.keep & key)


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Switch autocast on or off for a device type in this thread; `autocast` is the usual way.

    Args:
        device_type: such as ``cpu``; may be left out, which means ``cuda`` as in PyTorch.
        enabled: on or off.
    """
    only_switch = enabled is None and isinstance(device_type, bool)
    wanted = device_type if only_switch else enabled
    check_bool("set_autocast_enabled(): argument 'enabled'", wanted)
    found = checked_device("set_autocast_enabled", "cuda" if only_switch else device_type)
    switch(found.key, bool(wanted))


def switch(key: DispatchKey, enabled: bool) -> None:
    """Put an Autocast key into this thread's masks, or take it out."""
    if enabled:
        set_masks(MASKS.include | key, MASKS.keep | key)
    else:
        set_masks(MASKS.include & ~key, MASKS.keep)


# ---- dtypes ------------------------------------------------------------------------------------


def get_autocast_dtype(device_type: str) -> dtype:
    """The dtype that ops of lower precision use on a device type."""
    found = checked_device("get_autocast_dtype", device_type)
    return STATE.dtypes.get(found.key) or found.default_dtype()


def set_autocast_dtype(device_type: str, dtype: dtype) -> None:
    """Choose the dtype that ops of lower precision use on a device type in this thread."""
    if not isinstance(dtype, _dtype):
        raise TypeError(
            f"set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not "
            f"{type(dtype).__name__}"
        )
    STATE.dtypes[checked_device("set_autocast_dtype", device_type).key] = dtype


_dtype: Final = dtype  # the class, where an argument has its name


def dtype_in_use(key: DispatchKey) -> dtype:
    """The dtype of lower precision at an Autocast key in this thread."""
    return STATE.dtypes.get(key) or _default_dtype(key)


def _default_dtype(key: DispatchKey) -> dtype:
    """The dtype of lower precision at an Autocast key where none was set."""
    row = next((r for r in TABLE.rows() if AUTOCAST_OF.get(DispatchKey(r.key)) is key), None)
    type = row.type if row is not None else key.name.removeprefix("Autocast").lower()
    return AutocastDevice(type, key, row).default_dtype()


def chosen_dtypes() -> dict[DispatchKey, dtype]:
    """The dtypes of lower precision in this thread that are not the defaults."""
    return {key: dtype for key, dtype in STATE.dtypes.items() if dtype is not _default_dtype(key)}


# ---- the cache of casts ------------------------------------------------------------------------


def is_autocast_cache_enabled() -> bool:
    """Whether casts of weights are kept until the outermost `autocast` block ends."""
    return STATE.cache_enabled


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Choose whether casts of weights are kept until the outermost `autocast` block ends."""
    check_bool("enabled", enabled)
    STATE.cache_enabled = enabled


def clear_autocast_cache() -> None:
    """Forget this thread's casts of weights."""
    STATE.casts.clear()


def autocast_increment_nesting() -> int:
    """Enter one more level, for code that switches autocast by hand; gives the new depth."""
    STATE.nesting += 1
    return STATE.nesting


def autocast_decrement_nesting() -> int:
    """Leave one level; at depth 0 call `clear_autocast_cache`."""
    STATE.nesting -= 1
    return STATE.nesting
