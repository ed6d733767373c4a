"""``torch.distributed.algorithms.ddp_comm_hooks``: hooks of `DistributedDataParallel`."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any

from ....absent import names_of
from . import debugging_hooks, default_hooks, quantization_hooks
from . import powerSGD_hook as power

__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]

__getattr__ = names_of(__name__)


def _register(
    model: Any,
    state: Any,
    *,
    hook: Callable[..., Any],
    matrix_approximation_rank: int,
    start_powerSGD_iter: int = 1_000,
) -> None:
    if matrix_approximation_rank:
        state = power.PowerSGDState(state, matrix_approximation_rank, start_powerSGD_iter)
    model.register_comm_hook(state, hook)


class DDPCommHookType(Enum):
    """The hooks by name: each value is called with ``model`` and ``state``, a group."""

    ALLREDUCE = (default_hooks.allreduce_hook,)
    FP16_COMPRESS = (default_hooks.fp16_compress_hook,)
    BF16_COMPRESS = (default_hooks.bf16_compress_hook,)
    QUANTIZE_PER_TENSOR = (quantization_hooks.quantization_pertensor_hook,)
    QUANTIZE_PER_CHANNEL = (quantization_hooks.quantization_perchannel_hook,)
    POWER_SGD = power.powerSGD_hook, 1
    POWER_SGD_RANK2 = power.powerSGD_hook, 2
    BATCHED_POWER_SGD = power.batched_powerSGD_hook, 1
    BATCHED_POWER_SGD_RANK2 = power.batched_powerSGD_hook, 2
    NOOP = (debugging_hooks.noop_hook,)

    def __init__(self, hook: Callable[..., Any], rank: int = 0) -> None:
        self._value_ = partial(_register, hook=hook, matrix_approximation_rank=rank)


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """Have a module's gradients summed by a hook.

    Args:
        comm_hook_type: which.
        model: a `DistributedDataParallel`.
        state: the group; None for that of all processes.
    """
    comm_hook_type.value(model=model, state=state)
