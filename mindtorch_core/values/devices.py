"""Devices, and the table that says which backend serves which device name.

The core names no device: plugins put their rows into `TABLE` when they are loaded. A row binds a
device type to its dispatch keys and its runtime.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .errors import BackendUnavailableError
from .interrupts import from_entry
from .own_frames import hide

if TYPE_CHECKING:
    from ..runtime import Runtime

__all__ = [
    "DeviceRow",
    "chosen_device",
    "device",
    "get_default_device",
    "get_device_module",
    "row_of",
    "set_default_device",
]


class DeviceRow(NamedTuple):
    """What the core knows about a device type.

    Attributes:
        type: the name users write, such as ``cpu``.
        key: bit of the backend's dispatch key.
        autograd_key: bit of the matching Autograd key.
        keys: dispatch keys of a new tensor, and of a call that makes one.
        runtime: memory, copies, streams and random numbers of this device type.
        distribution: who supplied it, as ``name version``.
        module: what ``torch.<type>`` shows, or None.
    """

    type: str
    key: int
    autograd_key: int
    keys: int
    runtime: Runtime
    distribution: str
    module: Any = None


class _Table(dict[str, DeviceRow]):
    """The rows by device type."""

    def rows(self) -> tuple[DeviceRow, ...]:
        """Those that there are now: other threads may load devices while they are gone through."""
        return tuple(self.values())

    def __missing__(self, type: str) -> DeviceRow:
        raise unloaded(type) if type.__class__ is _RetiredType else KeyError(type)


TABLE: Final = _Table()

# Set by `mindtorch_core.plugins`: loads the plugin for a device type or raises saying why not.
_loader: list[Callable[[str], DeviceRow]] = []
_accelerators_loader: list[Callable[[], None]] = []


def set_loader(load: Callable[[str], DeviceRow], load_accelerators: Callable[[], None]) -> None:
    """Install the functions that load the backend of a device type, and all accelerators', on first need."""
    _loader[:] = [load]
    _accelerators_loader[:] = [load_accelerators]


def row_of(type: str) -> DeviceRow:
    """The table row of a device type, loading its plugin when it is first asked for.

    Raises:
        BackendUnavailableError: if no plugin supplies it, or the one that did was unloaded; the text
            names the package.
    """
    row = TABLE.get(type)
    if row is None:
        if type.__class__ is _RetiredType:
            raise unloaded(type)
        row = _loader[0](type)
    return row


class _RetiredType(str):
    """The type of a device whose backend was unloaded: it reads as before and is equal to no other.

    So nothing that is kept by type, such as a row, is found for it, also when there is a backend of
    that name again.

    Attributes:
        place: the device, as text.
    """

    place: str
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other


def is_retired(d: device) -> bool:
    """Whether the backend of a device was unloaded since something was put there."""
    return d.type.__class__ is _RetiredType


def unloaded(type: str) -> BackendUnavailableError:
    """The error that whatever still lies on a device gives whose backend was unloaded."""
    place = getattr(type, "place", type)
    return BackendUnavailableError(
        f"this was made on {place}, whose backend was unloaded: make it anew, also the torch.device",
        device=str.__str__(type),
    )


def retire_devices(type: str) -> None:
    """Make the devices of a type, and so what lies there, unusable: its backend goes.

    A device that is asked for by that name later is another one.
    """
    global _HOST
    names = [name for name, d in tuple(_INTERNED.items()) if d.type == type]
    for d in {_INTERNED.pop(name) for name in names}:
        retired = _RetiredType(type)
        retired.place, d.type = str(d), retired
    if is_retired(_HOST):
        _HOST = device("cpu")


# Types that PyTorch knows: a string naming one parses even when no plugin serves it.
KNOWN_TYPES: Final = frozenset(
    [
        "cpu",
        "cuda",
        "ipu",
        "xpu",
        "mkldnn",
        "opengl",
        "opencl",
        "ideep",
        "hip",
        "ve",
        "fpga",
        "maia",
        "xla",
        "lazy",
        "vulkan",
        "mps",
        "meta",
        "hpu",
        "mtia",
        "npu",
        "privateuseone",
    ]
)

_INTERNED: Final[dict[tuple[str, int | None], device]] = {}

# Types that programs name and mean another by, as `mindtorch run --as-cuda` says: ``cuda=npu``.
VARIABLE: Final = "MINDTORCH_STANDS_FOR"
STANDS_FOR: Final[dict[str, str]] = dict(
    pair.split("=", 1) for pair in os.environ.get(VARIABLE, "").split(",") if "=" in pair
)


def type_meant(type: str) -> str:
    """The type of devices that a name means: itself, unless another stands for it."""
    return STANDS_FOR.get(type, type)


def place_meant(place: str) -> str:
    """The text of a device, such as ``npu:0``, by the type that is meant."""
    type, colon, index = place.partition(":")
    return f"{type_meant(type)}{colon}{index}"


def place_named(place: str) -> str:
    """The text of a device as programs name it: ``cuda:0``, where another type stands for that one."""
    type, colon, index = place.partition(":")
    named = next((name for name, meant in STANDS_FOR.items() if meant == type), type)
    return f"{named}{colon}{index}"


class device:
    """Where a tensor lives: a type and, for types with several devices, an index.

    ``device("npu:1")``, ``device("npu", 1)`` and ``device(device("npu:1"))`` are one object, so
    devices compare by identity. ``device(1)`` is the second device of the loaded accelerator. As a
    context manager a device is the default for factories of the thread.

    Args:
        type: the type, or both as one string; a device; or an index alone.
        index: which device of that type.

    Raises:
        RuntimeError: for a string that is not ``type`` or ``type:index``, and for an index alone
            unless there is exactly one accelerator.

    Example:
        >>> torch.device("cpu").type, torch.device("cpu", 0)
        ('cpu', device(type='cpu', index=0))
    """

    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __new__(cls, type: str | device | int, index: int | None = None) -> device:
        """Find or make the one object for a type and an index."""
        if isinstance(type, device):
            if index is not None:
                raise TypeError("device() takes an index only together with a device type string")
            return type
        if isinstance(type, int) and not isinstance(type, bool):
            if index is not None:
                raise TypeError("device() takes an index only together with a device type string")
            index, type = type, accelerator_type()
        if not isinstance(type, str):
            raise TypeError(
                f"device(): argument 'type' must be str or torch.device, not {type.__class__.__name__}"
            )
        name, colon, number = type.partition(":")
        if colon:
            if index is not None:
                raise RuntimeError(
                    f"type (string) must not include an index because index was passed "
                    f"explicitly: {type}"
                )
            if not number.isdecimal() or (number != "0" and number.startswith("0")):
                raise RuntimeError(f"Invalid device string: '{type}'")
            index = int(number)
        if index is not None and not hasattr(index, "__index__"):
            raise TypeError(
                f"device(): argument 'index' (position 2) must be int, not {index.__class__.__name__}"
            )
        if index is not None and index < 0:
            raise RuntimeError(f"Device index must not be negative, got {index}")
        found = _INTERNED.get((name, index))
        if found is not None:
            return found
        if not name.isidentifier():
            raise RuntimeError(f"Invalid device string: '{type}'")
        if name in STANDS_FOR:
            return _INTERNED.setdefault((name, index), device(STANDS_FOR[name], index))
        if name not in KNOWN_TYPES and name not in TABLE:
            try:
                row_of(name)  # a third party's device: raises if nobody supplies it
            except RuntimeError as error:
                hide(error)
                raise
        made = object.__new__(cls)
        made.type = name
        made.index = index
        return _INTERNED.setdefault((name, index), made)

    def __repr__(self) -> str:
        if self.index is None:
            return f"device(type='{self.type}')"
        return f"device(type='{self.type}', index={self.index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (str(self),)

    def __enter__(self) -> device:
        on = concrete(self)
        _DEFAULT.previous += (_DEFAULT.device,)
        _DEFAULT.device = on
        return self

    @from_entry
    def __exit__(self, *exc_info: object) -> None:
        try:
            default = _DEFAULT
        finally:  # nothing here is called, so an interrupt comes before or not at all
            default = _DEFAULT
            default.device = default.previous[-1]
            del default.previous[-1]


def chosen_accelerator() -> str:
    """The device type that ``MINDTORCH_ACCELERATOR`` chooses, or an empty text."""
    return os.environ.get("MINDTORCH_ACCELERATOR", "").strip()


def accelerators(*, load: bool = True) -> list[DeviceRow]:
    """Rows of what computes beside the host and has a device.

    Args:
        load: whether to load first what is installed.
    """
    if load:
        _accelerators_loader[0]()
    rows = (row for row in TABLE.rows() if row.runtime.executes and row.type != "cpu")
    return [row for row in rows if row.runtime.device_count() > 0]


def accelerator_type(otherwise: str | None = None) -> str:
    """The chosen device type, or that of the only accelerator: of those that are loaded, or else installed.

    Args:
        otherwise: the answer where there is none.

    Raises:
        RuntimeError: if there is none and no other answer, or several.
    """
    if chosen := chosen_accelerator():
        return row_of(chosen).type
    found = [row.type for row in accelerators(load=False) or accelerators()]
    if not found and otherwise is not None:
        return otherwise
    if len(found) != 1:
        raise RuntimeError(
            "Cannot access accelerator device when none is available"
            + (f" or several are ({', '.join(found)})" if found else "")
            + ": name the device type, as in torch.device('npu:0')."
        )
    return found[0]


_HOST = device("cpu")


class _Default(threading.local):
    """A thread's device for factories, and those that its open ``with`` blocks give back."""

    def __init__(self) -> None:
        self.device: device | None = None
        self.previous: list[device | None] = []


_DEFAULT: Final = _Default()


def chosen_device() -> device | None:
    """The device that was set for factories of this thread, if one was."""
    return _DEFAULT.device


def get_default_device() -> device:
    """The device that factories of this thread use when none is given (``cpu`` unless set)."""
    return _DEFAULT.device or _HOST


def set_default_device(d: device | str | None) -> None:
    """Set the device that factories of this thread use when none is given; None restores ``cpu``."""
    _DEFAULT.device = None if d is None else concrete(device(d))


def get_device_module(device: device | str | None = None) -> Any:
    """What ``torch.<type>`` shows for a device's type; if None for the accelerator's, or else the host's.

    Raises:
        BackendUnavailableError: if no plugin serves it.
    """
    type = accelerator_type(_HOST.type) if device is None else concrete(device).type
    shown = vars(sys.modules[__name__.partition(".")[0]]).get(
        type
    )  # where it was imported as a module
    return row_of(type).module if shown is None else shown


# What makes devices of values that are none, as a tracer's; asked before these are refused.
STAND_INS: Final[list[Callable[[Any], Any]]] = []


def concrete(d: device | str | None) -> device:
    """The device on which a tensor asked for on ``d`` is made: None and missing indices resolved.

    Raises:
        BackendUnavailableError: if no plugin serves the device type.
        RuntimeError: if the index is out of range.
    """
    try:
        if d is None:
            d = _DEFAULT.device or _HOST
        elif d.__class__ is not device:
            d = device(d)
        row = TABLE.get(d.type)
        if row is None:
            row = row_of(d.type)
        return row.runtime.concrete_device(d)
    except (RuntimeError, TypeError) as error:
        for stand_in in STAND_INS:
            found: device | None = stand_in(d)
            if found is not None:
                return found
        hide(error)
        raise
