"""Automatic differentiation over the dispatcher."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from ..dispatch.nearest import missing
from ..frontend import surroundings
from ..gradients.anomaly_mode import detect_anomaly, set_detect_anomaly
from ..gradients.differentiation import backward, grad
from ..gradients.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from ..gradients.node import Node
from .function import Function

if TYPE_CHECKING:
    from . import forward_ad, functional, graph
    from .gradient_checks import gradcheck, gradgradcheck

__all__ = [
    "Function",
    "Node",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

# What is imported when it is first used, and the module it is in.
_LAZY: Final = {
    "anomaly_mode": "anomaly_mode",
    "forward_ad": "forward_ad",
    "functional": "functional",
    "grad_mode": "grad_mode",
    "gradcheck": "gradient_checks",
    "gradgradcheck": "gradient_checks",
    "graph": "graph",
}


def _late(name: str) -> Any:
    where = _LAZY.get(name)
    if name in surroundings.OF_AUTOGRAD:
        return importlib.import_module(f"{__name__}.{name}")
    if name in ("_disable_profiler", "_profiler_enabled"):
        return getattr(importlib.import_module(f"{__name__}.profiler"), name)
    if name == "_is_checkpoint_valid":
        return _late("Variable")._execution_engine.is_checkpoint_valid
    if name == "Variable":
        return importlib.import_module(f"{__name__}.variable").Variable
    if where is None:
        raise missing(__name__, name, __dir__)
    module = importlib.import_module(f"{__name__}.{where}")
    found = module if where == name else getattr(module, name)
    globals()[name] = found
    return found


if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = _late


class _Autograd(ModuleType):
    """This module: its ``gradcheck`` stays the function when the module of that path is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "gradcheck" or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Autograd


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
