"""``torch.distributed.fsdp``: the names of mindtorch-nn's sharded training."""

from __future__ import annotations

import importlib
from typing import Any, Final

from ....frontend.companion import module_at
from ...absent import names_of

_WRAPPER: Final = (
    "BackwardPrefetch", "CPUOffload", "FullOptimStateDictConfig", "FullStateDictConfig",
    "FullyShardedDataParallel", "LocalOptimStateDictConfig", "LocalStateDictConfig", "MixedPrecision",
    "OptimStateDictConfig", "OptimStateKeyType", "ShardedOptimStateDictConfig", "ShardedStateDictConfig",
    "ShardingStrategy", "StateDictConfig", "StateDictSettings", "StateDictType",
)  # fmt: skip
__all__ = [
    "CPUOffloadPolicy",
    "FSDPModule",
    "MixedPrecisionPolicy",
    "OffloadPolicy",
    "UnshardHandle",
    "fully_shard",
    "register_fsdp_forward_method",
    "share_comm_ctx",
]
_FOLDERS: Final = {
    **dict.fromkeys(__all__, "sharding"),
    **dict.fromkeys(_WRAPPER, "fsdp_wrapper"),
}
__all__ += [*_WRAPPER]
_absent = names_of(__name__)


def __getattr__(name: str) -> Any:
    if name == "wrap":  # a module below, which programs do not always import
        return importlib.import_module(f"{__name__}.wrap")
    if name not in _FOLDERS:
        return _absent(name)
    found = getattr(module_at(f"mindtorch_core.nn.parallel.{_FOLDERS[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
