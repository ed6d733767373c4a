"""Automatic mixed precision: `autocast` runs ops in lower precision where that is safe.

Which op does what is data, in `mindtorch_core.amp.policies`, and read when autocast is first used.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..dispatch.autocast_keys import AUTOCAST_OF
from ..dispatch.nearest import missing
from ..dispatch.registry import registry
from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available

if TYPE_CHECKING:
    from ..dispatch.entry import Kernel, OpEntry
    from ..dispatch.keys import DispatchKey
    from .cast import set_policy
    from .grad_scaler import GradScaler

__all__ = [
    "GradScaler",
    "autocast",
    "custom_bwd",
    "custom_fwd",
    "is_autocast_available",
    "set_policy",
]


def _kernel(
    key: DispatchKey, entry: OpEntry, below_mask: int, resolve: Callable[[int], Kernel]
) -> Kernel | None:
    """What an Autocast key runs, with the tables loaded on first use."""
    from .cast import autocast_kernel

    return autocast_kernel(key, entry, below_mask, resolve)


def install() -> None:
    """Serve the Autocast keys."""
    for key in AUTOCAST_OF.values():
        registry.wrappers[key] = functools.partial(_kernel, key)


def _late(name: str) -> Any:
    if name in ("GradScaler", "grad_scaler"):
        grad_scaler = importlib.import_module(f"{__name__}.grad_scaler")
        return grad_scaler if name == "grad_scaler" else grad_scaler.GradScaler
    if name == "set_policy":
        from .cast import set_policy

        return set_policy
    raise missing(__name__, name, lambda: __all__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = _late
