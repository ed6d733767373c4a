"""Building blocks of neural networks; modules are those of the distribution mindtorch-nn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..frontend import companion
from . import functional
from .linear_cross_entropy import LinearCrossEntropyOptions

if TYPE_CHECKING:  # what `_late` finds; mindtorch-nn stands above and is not imported here
    import mindtorch_nn.modules as _modules
    from mindtorch_nn import (
        Buffer,
        DataParallel,
        Parameter,
        UninitializedBuffer,
        UninitializedParameter,
    )
    from mindtorch_nn.modules import *  # noqa: F403

    from . import attention, common_types, grad, init, modules, parallel, parameter, utils

__all__ = ["LinearCrossEntropyOptions", "functional"]

if TYPE_CHECKING:  # what a typed package does not list, type checkers take for private
    __all__ += _modules.__all__
    __all__ += ["Buffer", "DataParallel", "Parameter", "UninitializedBuffer"]
    __all__ += ["UninitializedParameter", "attention", "common_types", "grad", "init", "modules"]
    __all__ += ["parallel", "parameter", "utils"]


def _late(name: str) -> Any:
    found = globals()[name] = companion.nn_name(name)
    return found


if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = _late


def __dir__() -> list[str]:
    return sorted({*globals(), *companion.names_of_nn()})
