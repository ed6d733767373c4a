"""The NPU's kernels, by family: which operators of CANN compute an op, and with which arguments."""

from __future__ import annotations

import importlib
from typing import Any, Final

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


def register(key: Any) -> None:
    """Register the kernels, those of ops that are defined on demand when that happens."""
    done: set[str] = set()

    def load(families: tuple[str, ...]) -> None:
        for family in families:
            importlib.import_module(family, __package__)
        _register(key, done)

    load(_FAMILIES)
    registry.rest.when_defined(lambda: load(_REST))
