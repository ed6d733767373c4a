"""``torch.distributed.algorithms._checkpoint.checkpoint_wrapper``: names of mindtorch-nn."""

from __future__ import annotations

from typing import Any, Final

from .....frontend.companion import module_at

_NAMES: Final = (
    "ActivationWrapper", "CheckpointImpl", "CheckpointWrapper", "OffloadWrapper",
    "apply_activation_checkpointing", "checkpoint_wrapper", "offload_wrapper",
)  # fmt: skip
__all__ = [*_NAMES]

_CHECKPOINT_WRAPPED_MODULE = "_checkpoint_wrapped_module"
_CHECKPOINT_PREFIX = f"{_CHECKPOINT_WRAPPED_MODULE}."


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(module_at("mindtorch_core.nn.parallel.activation_wrappers"), name)
    globals()[name] = found
    return found
