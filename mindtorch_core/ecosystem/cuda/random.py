"""``torch.cuda.random``: PyTorch's path of the functions for random numbers."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

_NAMES: Final = frozenset(
    {
        "get_rng_state",
        "get_rng_state_all",
        "initial_seed",
        "manual_seed",
        "manual_seed_all",
        "seed",
        "seed_all",
        "set_rng_state",
        "set_rng_state_all",
    }
)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'torch.cuda.random' has no attribute {name!r}", name=name)
    return getattr(import_module("mindtorch_core.ecosystem.cuda"), name)
