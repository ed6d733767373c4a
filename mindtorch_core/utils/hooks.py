"""``torch.utils.hooks``: handles of hooks, and hooks that tensors are saved without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..frontend import companion
from ..gradients.handles import RemovableHandle, unserializable_hook, warn_if_has_hooks

if TYPE_CHECKING:
    from mindtorch_nn.modules.backward_hooks import BackwardHook  # noqa: F401

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def _late(name: str) -> Any:
    if name == "BackwardHook":  # of the distribution mindtorch-nn
        return companion.module_at("mindtorch_core.nn.modules.backward_hooks").BackwardHook
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = _late
