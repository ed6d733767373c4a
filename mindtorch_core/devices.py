"""Devices, and the table that says which backend serves which device name.

The core names no device: plugins put their rows into `TABLE` when they are loaded. A row binds a
device type to its dispatch keys and its runtime.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .runtime import Runtime

__all__ = [
    "DeviceRow",
    "device",
    "get_default_device",
    "get_device_module",
    "row_of",
    "set_default_device",
]


@dataclass(frozen=True, slots=True)
class DeviceRow:
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


TABLE: Final[dict[str, DeviceRow]] = {}

# Set by `mindtorch_core.plugins`: loads the plugin for a device type or raises saying why not.
_loader: list[Callable[[str], DeviceRow]] = []


def set_loader(load: Callable[[str], DeviceRow]) -> None:
    """Install the function that loads the backend of a device type on first need."""
    _loader[:] = [load]


def row_of(type: str) -> DeviceRow:
    """The table row of a device type, loading its plugin when it is first asked for.

    Raises:
        BackendUnavailableError: if no plugin supplies it; the text names the package.
    """
    row = TABLE.get(type)
    return row if row is not None else _loader[0](type)


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


class device:
    """Where a tensor lives: a type and, for types with several devices, an index.

    ``device("npu:1")``, ``device("npu", 1)`` and ``device(device("npu:1"))`` are one object, so
    devices compare by identity. ``device(1)`` is the second device of the loaded accelerator. As a
    context manager a device is the default for factories.

    Raises:
        RuntimeError: for a string that is not ``type`` or ``type:index``, and for an index alone
            unless exactly one accelerator is loaded.
    """

    __slots__ = ("_previous", "index", "type")
    type: str
    index: int | None
    _previous: list[device | None]

    def __new__(cls, type: str | device | int, index: int | None = None) -> device:
        """Find or make the one object for a type and an index."""
        if isinstance(type, device):
            if index is not None:
                raise TypeError("device() takes an index only together with a device type string")
            return type
        if isinstance(type, int) and not isinstance(type, bool):
            if index is not None:
                raise TypeError("device() takes an index only together with a device type string")
            index, type = type, _accelerator()
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
        if index is not None and index < 0:
            raise RuntimeError(f"Device index must not be negative, got {index}")
        found = _INTERNED.get((name, index))
        if found is not None:
            return found
        if not name.isidentifier():
            raise RuntimeError(f"Invalid device string: '{type}'")
        if name not in KNOWN_TYPES and name not in TABLE:
            row_of(name)  # a third party's device: raises if nobody supplies it
        made = object.__new__(cls)
        made.type = name
        made.index = index
        made._previous = []
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
        self._previous.append(_default[0])
        _default[0] = concrete(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        _default[0] = self._previous.pop()


def _accelerator() -> str:
    """The one loaded device type beside the host that computes.

    Raises:
        RuntimeError: if there is none, or several.
    """
    found = [row.type for row in TABLE.values() if row.runtime.executes and row.type != "cpu"]
    if len(found) != 1:
        raise RuntimeError(
            "Cannot access accelerator device when none is available"
            + (f" or several are ({', '.join(found)})" if found else "")
            + ": name the device type, as in torch.device('npu:0')."
        )
    return found[0]


_default: Final[list[device | None]] = [None]


def get_default_device() -> device:
    """The device that factories use when none is given (``cpu`` unless it was set)."""
    return _default[0] or device("cpu")


def set_default_device(d: device | str | None) -> None:
    """Set the device that factories use when none is given; None restores ``cpu``."""
    _default[0] = None if d is None else concrete(device(d))


def get_device_module(device: device | str | None = None) -> Any:
    """What ``torch.<type>`` shows for a device's type; for the default device's if None.

    Raises:
        BackendUnavailableError: if no plugin serves it.
    """
    return row_of(concrete(device).type).module


def concrete(d: device | str | None) -> device:
    """The device on which a tensor asked for on ``d`` is made: None and missing indices resolved.

    Raises:
        BackendUnavailableError: if no plugin serves the device type.
        RuntimeError: if the index is out of range.
    """
    if d is None:
        d = _default[0] or device("cpu")
    elif d.__class__ is not device:
        d = device(d)
    row = TABLE.get(d.type)
    if row is None:
        row = row_of(d.type)
    return row.runtime.concrete_device(d)
