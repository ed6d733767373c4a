"""``torch.distributed.optim``: optimizers of mindtorch-nn for several processes."""

from __future__ import annotations

from typing import Any, Final

from ....frontend.companion import module_at
from ...absent import names_of

__all__ = ["PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]

_absent = names_of(__name__)
_MODULES: Final = {
    "PostLocalSGDOptimizer": "post_local_sgd",
    "ZeroRedundancyOptimizer": "zero_redundancy",
    "_NamedOptimizer": "named",
    "_apply_optimizer_in_backward": "in_backward",
    "_get_in_backward_optimizers": "in_backward",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        return _absent(name)
    found = getattr(module_at(f"mindtorch_core.optim.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
