"""Building blocks of neural networks; modules are those of the distribution mindtorch-nn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..frontend import companion
from . import functional
from .linear_cross_entropy import LinearCrossEntropyOptions

if TYPE_CHECKING:
    from mindtorch_nn import *  # noqa: F403

__all__ = ["LinearCrossEntropyOptions", "functional"]


def __getattr__(name: str) -> Any:
    found = globals()[name] = companion.nn_name(name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *companion.names_of_nn()})
