"""The CPU's kernels, by family. A module is imported when one of its ops is defined."""

from __future__ import annotations

import importlib

from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry

from ..register import KERNELS
from .homes import HOMES

__all__ = ["register"]

_HOME_OF = {f"aten::{name}": module for module, names in HOMES for name in names.split()}


# Ops that were asked for while the module of their kernels was being imported.
_LATE: list[tuple[DispatchKey, str]] = []


def register(key: DispatchKey, names: tuple[str, ...]) -> None:
    """Register the kernels of some ops, from modules that are imported when they are needed.

    Importing one may define further ops, whose kernels are asked for before it has named them: they
    follow when it has.
    """
    try:
        for module in {_HOME_OF[name]: None for name in names if name in _HOME_OF}:
            importlib.import_module(f"{__name__}.{module}")
    except BaseException:
        _LATE.clear()
        raise
    asked = dict.fromkeys([*_LATE, *((key, name) for name in names)])
    _LATE[:] = [(to, name) for to, name in asked if name in _HOME_OF and name not in KERNELS]
    for to, name in asked:
        if name in KERNELS:
            registry.register_kernel(name, to, KERNELS[name], promoted=True)
