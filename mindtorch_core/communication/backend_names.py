"""Names of backends, as `init_process_group` takes them, and of levels: `Backend`, `DebugLevel`."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import Enum
from typing import Any, ClassVar

from ..values.devices import device as _device
from ..values.user_warnings import warn_user

__all__ = [
    "Backend",
    "BackendConfig",
    "DebugLevel",
    "get_debug_level",
    "get_default_backend_for_device",
    "set_debug_level",
    "set_debug_level_from_env",
]


class Backend(str):
    """A backend's name in small letters.

    Raises:
        ValueError: for something that is no text.
    """

    UNDEFINED: ClassVar[str] = "undefined"
    GLOO: ClassVar[str] = "gloo"
    NCCL: ClassVar[str] = "nccl"
    UCC: ClassVar[str] = "ucc"
    MPI: ClassVar[str] = "mpi"
    XCCL: ClassVar[str] = "xccl"
    FAKE: ClassVar[str] = "fake"
    backend_list: ClassVar[list[str]] = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]
    # What stands for the communicator of a type of device, where a program asks for a name.
    default_device_backend_map: ClassVar[dict[str, str]] = {
        "cpu": GLOO,
        "cuda": NCCL,
        "xpu": XCCL,
        "mps": GLOO,
    }

    # On which types of devices each is said to work, and what was registered, by name in capitals.
    backend_capability: ClassVar[dict[str, list[str]]] = {
        GLOO: ["cpu", "cuda"],
        NCCL: ["cuda"],
        XCCL: ["xpu"],
        UCC: ["cpu", "cuda"],
        MPI: ["cpu", "cuda"],
        FAKE: ["cpu", "cuda", "hpu", "xpu"],
    }
    _plugins: ClassVar[dict[str, tuple[Callable[..., Any], bool]]] = {}

    @classmethod
    def register_backend(
        cls,
        name: str,
        func: Callable[..., Any],
        extended_api: bool = False,
        devices: str | list[str] | None = None,
    ) -> None:
        """Let `init_process_group` know a backend of the program's own.

        Args:
            name: of the backend.
            func: makes the process's `Communicator` of a store, its rank, the number of processes and a
                timeout.
            extended_api: whether it takes an object with these as attributes, and options.
            devices: types of devices that it works on; the CPU, with a warning, unless they are given.
        """
        own, key = name.lower(), name.upper()
        if not hasattr(Backend, key):
            setattr(Backend, key, own)
        if own not in cls.backend_list:
            cls.backend_list.append(own)
        if devices is None:
            warn_user(
                f"Device capability of {name} unspecified, assuming `cpu` and `cuda` or `xpu`. Please "
                "specify it via the `devices` argument of `register_backend`.",
            )
        known = ["cpu", "cuda"] if devices is None else devices
        cls.backend_capability[own] = [known] if isinstance(known, str) else list(known)
        for device in [] if devices is None else cls.backend_capability[own]:
            cls.default_device_backend_map.setdefault(device, own)
        cls._plugins[key] = (func, extended_api)

    def __new__(cls, name: str) -> Backend:
        """The name."""
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish: got {name!r}")
        return super().__new__(cls, name.lower())


class BackendConfig:
    """Which backend stands for which type of device, of a name or of pairs such as ``cpu:mpi,npu:hccl``.

    Raises:
        ValueError: for pairs that are none, or two of one type.
    """

    def __init__(self, backend: Backend) -> None:
        self.device_backend_map: dict[str, str] = {}
        if backend == Backend.UNDEFINED:
            self.device_backend_map["cpu"] = Backend.default_device_backend_map["cpu"]
        elif ":" not in backend:
            devices = Backend.backend_capability.get(backend, ["cpu"])
            self.device_backend_map = dict.fromkeys(devices, backend)
        else:
            for pair in backend.lower().split(","):
                device, found, name = pair.partition(":")
                if not found or device in self.device_backend_map:
                    wrong = "Duplicate device type" if found else "Invalid device:backend pairing:"
                    raise ValueError(
                        f"{wrong} {pair} in the backend string {backend!r}, which is to be as "
                        f"'cpu:mpi,npu:hccl'"
                    )
                self.device_backend_map[device] = Backend(name)

    def get_device_backend_map(self) -> dict[str, str]:
        """The backends by type of device."""
        return self.device_backend_map

    def __repr__(self) -> str:
        return ",".join(f"{device}:{name}" for device, name in self.device_backend_map.items())


def get_default_backend_for_device(device: Any) -> str:
    """The backend's name that stands for the communicator of a device's tensors.

    Raises:
        ValueError: for a type of device that has none.
    """
    kind = device.type if isinstance(device, _device) else str(device).partition(":")[0]
    found = Backend.default_device_backend_map.get(kind)
    if found is None:
        raise ValueError(f"Default backend not registered for device : {device}")
    return found


class DebugLevel(Enum):
    """How much is checked and told: here ranks compare all their calls at each level."""

    OFF = 0
    INFO = 1
    DETAIL = 2


_LEVEL = [DebugLevel.OFF]


def get_debug_level() -> DebugLevel:
    """The level that was set."""
    return _LEVEL[0]


def set_debug_level(level: DebugLevel) -> None:
    """Set the level, for programs that ask for it."""
    _LEVEL[0] = DebugLevel(level)


def set_debug_level_from_env() -> None:
    """Set the level that the variable TORCH_DISTRIBUTED_DEBUG names.

    Raises:
        RuntimeError: if there is none of that name.
    """
    name = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF").upper()
    if name not in DebugLevel.__members__:
        raise RuntimeError(
            "The value of TORCH_DISTRIBUTED_DEBUG must be one of OFF, INFO, or DETAIL, and is "
            f"{name!r}."
        )
    _LEVEL[0] = DebugLevel[name]


if os.environ.get("TORCH_DISTRIBUTED_DEBUG", "").upper() in DebugLevel.__members__:
    set_debug_level_from_env()
