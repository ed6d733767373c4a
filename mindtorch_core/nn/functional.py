"""Functions of ``torch.nn.functional``; each is defined with its op in `mindtorch_core.operators`."""

from __future__ import annotations

from typing import Any

from ..operators.define import FUNCTIONS


def __getattr__(name: str) -> Any:
    for namespace in ("nn", "torch"):
        packet = FUNCTIONS[namespace].get(name)
        if packet is not None and (namespace == "nn" or name in _FROM_TORCH):
            made = packet.function()
            globals()[name] = made
            return made
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# Functions that PyTorch shows in both places.
_FROM_TORCH = frozenset({"tanh", "sigmoid"})


def __dir__() -> list[str]:
    return sorted({*FUNCTIONS["nn"], *_FROM_TORCH})
