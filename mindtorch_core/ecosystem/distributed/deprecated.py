"""Names of ``torch.distributed`` that still work, and warn that others should be used."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from ...communication.reductions import ReduceOp
from ...values.user_warnings import warn_user

__all__ = ["OLD", "REDUCE_OP", "warning"]

_LATER: Final = (
    "`torch.distributed.{}` will be deprecated. If you must use it, please revisit our documentation later "
    "at https://pytorch.org/docs/main/distributed.html#collective-functions"
)
_NOW: Final = "`torch.distributed.{}` is deprecated. Please use `torch.distributed.{}` instead."
_PRIVATE: Final = (
    "`torch.distributed.{}` is a private function and will be deprecated. "
    "Please use `torch.distributed.{}` instead."
)
# What each says.
OLD: Final = {
    "_all_gather_base": _PRIVATE.format("_all_gather_base", "all_gather_single"),
    "_reduce_scatter_base": _PRIVATE.format("_reduce_scatter_base", "reduce_scatter_single"),
    "all_gather_coalesced": _LATER.format("all_gather_coalesced"),
    "all_gather_into_tensor": _NOW.format("all_gather_into_tensor", "all_gather_single"),
    "all_reduce_coalesced": _LATER.format("all_reduce_coalesced"),
    "reduce_scatter_tensor": _NOW.format("reduce_scatter_tensor", "reduce_scatter_single"),
}


def warning(call: Callable[..., Any], text: str) -> Callable[..., Any]:
    """A function that warns, and then is another one."""

    @functools.wraps(call)
    def old(*args: Any, **kwargs: Any) -> Any:
        warn_user(text, FutureWarning)
        return call(*args, **kwargs)

    return old


class _ReduceOp:
    def __getattr__(self, name: str) -> Any:
        warn_user(
            "`torch.distributed.reduce_op` is deprecated, please use `torch.distributed.ReduceOp` instead",
            FutureWarning,
        )
        return getattr(ReduceOp, name)


REDUCE_OP: Final = _ReduceOp()
