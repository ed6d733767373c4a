"""``torch.distributed._composable``: names of mindtorch-nn."""

from __future__ import annotations

from typing import Any, Final

from ....frontend.companion import module_at
from ...absent import names_of

_NAMES: Final = ("DDP", "checkpoint", "contract", "replicate")
__all__ = [*_NAMES]

_absent = names_of(__name__)


def __getattr__(name: str) -> Any:
    if name not in (*_NAMES, "fully_shard"):
        return _absent(name)
    place = "sharding" if name == "fully_shard" else "composable"
    found = getattr(module_at(f"mindtorch_core.nn.parallel.{place}"), name)
    globals()[name] = found
    return found
