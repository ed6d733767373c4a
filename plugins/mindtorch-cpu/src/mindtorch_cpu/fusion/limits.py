"""From which size on fusion pays, and how large tiles are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["LIMITS", "Limits"]


@dataclass(slots=True)
class Limits:
    """Sizes in elements; tests make them small.

    Attributes:
        min_elements: below it an op is cheaper alone.
        tile_elements: 512 KiB of float32: small enough that a few operands of a tile fit into the
            second-level cache of current CPUs, large enough that Python does not show.
    """

    min_elements: int = 1 << 17
    tile_elements: int = 1 << 17


LIMITS: Final = Limits()
