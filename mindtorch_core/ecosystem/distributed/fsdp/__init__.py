"""``torch.distributed.fsdp``: the names of mindtorch-nn's sharded training."""

from __future__ import annotations

from typing import Any, Final

from ....frontend.companion import module_at
from ...absent import names_of

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

_OWN: Final = frozenset(__all__)
_absent = names_of(__name__)


def __getattr__(name: str) -> Any:
    if name not in _OWN:
        return _absent(name)
    found = getattr(module_at("mindtorch_core.nn.parallel.sharding"), name)
    globals()[name] = found
    return found
