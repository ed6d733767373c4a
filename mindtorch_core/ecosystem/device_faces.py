"""``import torch.cuda``: modules that show the functions of a type of devices, or that there is none."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from ..frontend.legacy_constructors import type_on
from ..plugins import loader
from ..plugins.absent_device import AbsentDevice
from ..values.devices import row_of, type_meant
from .absent import names_of

__all__ = ["show"]

_CHILDREN = {
    ("mindtorch_core.ecosystem.cuda", name)
    for name in ("comm", "graphs", "memory", "nccl", "random", "streams", "tunable")
}
_CHILDREN.add(("mindtorch_core.ecosystem.cpu", "amp"))


def _no_capability(device: Any = None) -> tuple[int, int]:
    """(0, 0): a device that stands for CUDA's runs none of CUDA's kernels."""
    return 0, 0


def _collect() -> None:
    """Nothing: memory that processes share goes when nobody has it."""


# What programs ask of a device that stands for another and has no such function.
_STANDING = {"get_device_capability": _no_capability, "ipc_collect": _collect}

_absent: dict[str, AbsentDevice] = {}
# Names that are no row's: that is found out once, as libraries ask for some of them at every step.
_DEVICES_OWN: set[tuple[str, str]] = set()


def _functions(type: str) -> Any:
    """What has the functions of a type of devices."""
    served = type_meant(type)  # another type where programs run with it, see `mindtorch run`
    if loader.is_installed(served):
        return row_of(served).module
    return _absent_of(type)


def _absent_of(type: str) -> AbsentDevice:
    """The functions of a type of devices that is not there."""
    return _absent.setdefault(type, AbsentDevice(type))


class _Face(ModuleType):
    """A module whose names are those of the device's functions."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        type = self.__name__.rpartition(".")[2]
        if (self.__name__, name) in _CHILDREN:
            return importlib.import_module(f"mindtorch_core.{type}.{name}")
        try:
            if (self.__name__, name) not in _DEVICES_OWN:
                return names_of(self.__name__)(name)
        except AttributeError:
            _DEVICES_OWN.add((self.__name__, name))
        inner = _functions(type)
        try:
            return getattr(inner, name)
        except AttributeError:
            if inner is _absent.get(type) or type_meant(type) == type:
                raise
        if name in _STANDING:
            return _STANDING[name]
        of_tensors = type_on(name, type)
        if of_tensors is not None:
            return of_tensors
        return getattr(_absent_of(type), name)  # what the device that stands for it lacks

    def __dir__(self) -> list[str]:
        inner = _functions(self.__name__.rpartition(".")[2])
        return sorted({*vars(self), *(name for name in dir(inner) if name[0] != "_")})

    def __repr__(self) -> str:
        return repr(_functions(self.__name__.rpartition(".")[2]))


def show(module: str) -> None:
    """Make a module, by its path, the face of the devices that its last part names."""
    found = sys.modules[module]
    found.__class__ = _Face
    if not hasattr(found, "__path__"):
        found.__path__ = []
