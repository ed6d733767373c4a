"""``torch.distributed.fsdp.wrap``: which modules below one are wrapped, too."""

from __future__ import annotations

from typing import Any, Final

from ....frontend.companion import module_at

_NAMES: Final = (
    "CustomPolicy", "ModuleWrapPolicy", "always_wrap_policy", "enable_wrap", "lambda_auto_wrap_policy",
    "size_based_auto_wrap_policy", "transformer_auto_wrap_policy", "wrap",
)  # fmt: skip
__all__ = [*_NAMES]


def __getattr__(name: str) -> Any:
    if name not in (*_NAMES, "_or_policy"):
        raise AttributeError(f"module 'torch.distributed.fsdp.wrap' has no attribute {name!r}")
    found = getattr(module_at("mindtorch_core.nn.parallel.fsdp_wrapper.wrapping"), name)
    globals()[name] = found
    return found
