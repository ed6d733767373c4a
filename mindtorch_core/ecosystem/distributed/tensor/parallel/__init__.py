"""``torch.distributed.tensor.parallel``: the names of mindtorch-nn's tensor parallelism."""

from __future__ import annotations

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
    "parallelize_module",
]
_absent = names_of(__name__)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        return _absent(name)
    found = getattr(module_at("mindtorch_core.nn.parallel.tensor_parallel"), name)
    globals()[name] = found
    return found
