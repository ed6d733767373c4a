"""``torch.distributed.optim``: the optimizer of mindtorch-nn whose states lie in several processes."""

from __future__ import annotations

from typing import Any

from ....frontend.companion import module_at
from ...absent import names_of

__all__ = ["ZeroRedundancyOptimizer"]

_absent = names_of(__name__)


def __getattr__(name: str) -> Any:
    if name != "ZeroRedundancyOptimizer":
        return _absent(name)
    found = module_at("mindtorch_core.optim.zero_redundancy").ZeroRedundancyOptimizer
    globals()[name] = found
    return found
