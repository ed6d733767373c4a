"""The NPU's kernels, by family: which operators of CANN compute an op, and with which arguments."""

from __future__ import annotations

import functools
import importlib
from typing import Final

from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry

from .steps import KERNELS, STEPS
from .steps import register as _register

__all__ = ["KERNELS", "STEPS", "register"]

_FAMILIES: Final = (
    "..creation", ".copying", ".functions", ".indexing", ".matmul", ".pointwise", ".random",
    ".reduction", ".softmax",
)  # fmt: skip
# Families of ops that the core defines on demand.
_REST: Final = (
    ".activations", ".convolution", ".elementwise", ".embedding", ".linalg", ".normalization",
    ".order", ".pooling", ".rearranging",
)  # fmt: skip


def register(key: DispatchKey) -> None:
    """Register the kernels, those of ops that are defined on demand when that happens."""
    _load(_FAMILIES)
    registry.when_defined(functools.partial(_register_those, key))


def _register_those(key: DispatchKey, names: tuple[str, ...]) -> None:
    if any(registry.on_demand.home("aten", _base(name)) for name in names):
        _load(_REST)
    _register(key, names)


def _base(name: str) -> str:
    """An op's name without namespace and overload."""
    return name.partition("::")[2].partition(".")[0]


def _load(families: tuple[str, ...]) -> None:
    for family in families:
        importlib.import_module(family, __package__)
