"""Building blocks of neural networks."""

from typing import Any

from . import functional

__all__ = ["LinearCrossEntropyOptions", "functional"]


def __getattr__(name: str) -> Any:
    if name == "LinearCrossEntropyOptions":
        from ..operators.nn.linear_cross_entropy import LinearCrossEntropyOptions

        return LinearCrossEntropyOptions
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
