"""``torch.distributed.tensor.parallel``: the names of mindtorch-nn's tensor parallelism, and of losses."""

from __future__ import annotations

import importlib
from typing import Any

from .....frontend.companion import module_at
from ....absent import names_of

__all__ = [
    "ColwiseParallel",
    "ParallelStyle",
    "PrepareModuleInput",
    "PrepareModuleInputOutput",
    "PrepareModuleOutput",
    "RowwiseParallel",
    "SequenceParallel",
    "loss_parallel",
    "parallelize_module",
]
_absent = names_of(__name__)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        return _absent(name)
    if name == "loss_parallel":
        found = importlib.import_module("mindtorch_core.communication.sharded.losses").loss_parallel
    else:
        found = getattr(module_at("mindtorch_core.nn.parallel.tensor_parallel"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
