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
# Families that are imported when an op comes that those above do not have.
_REST: Final = (
    ".activations", ".convolution", ".elementwise", ".embedding", ".linalg", ".normalization",
    ".order", ".pooling", ".rearranging",
)  # fmt: skip
# Ops that came while families were being imported, which define some; None while none are.
_LATE: list[list[str] | None] = [None]


def register(key: DispatchKey) -> None:
    """Register the kernels, each when its op is defined."""
    _load(_FAMILIES)
    registry.when_defined(functools.partial(_register_those, key))


def _register_those(key: DispatchKey, names: tuple[str, ...]) -> None:
    waiting = _LATE[0]
    if waiting is not None:
        waiting += names
        return
    waiting = _LATE[0] = [*names]
    try:
        if not all(name in STEPS or name in KERNELS for name in names):
            _load(_REST)
    finally:
        _LATE[0] = None
    _register(key, dict.fromkeys(waiting))


def _load(families: tuple[str, ...]) -> None:
    for family in families:
        importlib.import_module(family, __package__)
