"""``torch.distributed.fsdp.sharded_grad_scaler``: a name of mindtorch-nn."""

from __future__ import annotations

from typing import Any, Final

from ....frontend.companion import module_at

_NAMES: Final = ("ShardedGradScaler",)
__all__ = [*_NAMES]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(module_at("mindtorch_core.nn.parallel.fsdp_wrapper.grad_scaler"), name)
    globals()[name] = found
    return found
