"""Names that PyTorch keeps under ``torch.utils``; modules are imported when they are first used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ..dispatch.nearest import missing
from ..frontend import companion, surroundings
from ..frontend.swapping import swap_tensors

if TYPE_CHECKING:  # what `_late` finds
    from . import (  # noqa: F401
        benchmark,
        checkpoint,
        collect_env,
        cpp_extension,
        data,
        deterministic,
        dlpack,
        flop_counter,
        hooks,
        model_zoo,
        tensorboard,
    )

__all__ = ["swap_tensors"]

_MODULES = frozenset({"_python_dispatch", "_pytree", "checkpoint", "dlpack", "hooks"})


def _late(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    # Of the distribution mindtorch-nn, or of the room `ecosystem`.
    if name == "data" or name in surroundings.OF_UTILS:
        return companion.module_at(f"{__name__}.{name}")
    raise missing(__name__, name, __dir__)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, "data"})


if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = _late
