"""What `FullyShardedDataParallel` is told: strategies, dtypes, and how states are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

import mindtorch_core as torch

from ...modules.batchnorm import _BatchNorm

__all__ = [
    "BackwardPrefetch",
    "CPUOffload",
    "FullOptimStateDictConfig",
    "FullStateDictConfig",
    "LocalOptimStateDictConfig",
    "LocalStateDictConfig",
    "MixedPrecision",
    "OptimStateDictConfig",
    "OptimStateKeyType",
    "ShardedOptimStateDictConfig",
    "ShardedStateDictConfig",
    "ShardingStrategy",
    "StateDictConfig",
    "StateDictSettings",
    "StateDictType",
]


class ShardingStrategy(Enum):
    """Where parameters lie.

    ``FULL_SHARD``: in parts, and put together around forward and in backward. ``SHARD_GRAD_OP``: whole from
    forward to backward. ``NO_SHARD``: whole, with summed gradients. ``HYBRID_SHARD`` and
    ``_HYBRID_SHARD_ZERO2``: as the first two within a machine, and repeated on the others.
    """

    FULL_SHARD = auto()
    SHARD_GRAD_OP = auto()
    NO_SHARD = auto()
    HYBRID_SHARD = auto()
    _HYBRID_SHARD_ZERO2 = auto()


class BackwardPrefetch(Enum):
    """When the parameters before are put together in backward; accepted, see `fully_shard`."""

    BACKWARD_PRE = auto()
    BACKWARD_POST = auto()


class StateDictType(Enum):
    """How ``state_dict()`` gives parameters: whole, as memory lies (refused), or as DTensors."""

    FULL_STATE_DICT = auto()
    LOCAL_STATE_DICT = auto()
    SHARDED_STATE_DICT = auto()


class OptimStateKeyType(Enum):
    """By what an optimizer's state is keyed."""

    PARAM_NAME = auto()
    PARAM_ID = auto()


@dataclass
class MixedPrecision:
    """The dtypes to compute in; parts keep theirs.

    Attributes:
        param_dtype: of parameters and of the root's arguments in forward and backward.
        reduce_dtype: in which gradients are added up; ``param_dtype`` by default.
        buffer_dtype: of floating point buffers; states have their own.
        keep_low_precision_grads: refused.
        cast_forward_inputs: whether arguments of other than the root are cast.
        cast_root_forward_inputs: whether the root's are.
        _module_classes_to_ignore: modules that an `auto_wrap_policy` has compute in their own dtype.
    """

    param_dtype: torch.dtype | None = None
    reduce_dtype: torch.dtype | None = None
    buffer_dtype: torch.dtype | None = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True
    _module_classes_to_ignore: Sequence[type] = (_BatchNorm,)


@dataclass
class CPUOffload:
    """Whether parts, their gradients and the optimizer's states lie in host memory."""

    offload_params: bool = False


@dataclass
class StateDictConfig:
    """How a state is given.

    Attributes:
        offload_to_cpu: in host memory.
    """

    offload_to_cpu: bool = False


@dataclass
class FullStateDictConfig(StateDictConfig):
    """Whole tensors; ``rank0_only`` gives the others an empty state."""

    rank0_only: bool = False


@dataclass
class LocalStateDictConfig(StateDictConfig):
    """Refused: there is no memory of several parameters."""


@dataclass
class ShardedStateDictConfig(StateDictConfig):
    """DTensors."""

    _use_dtensor: bool = False


@dataclass
class OptimStateDictConfig:
    """How an optimizer's state is given."""

    offload_to_cpu: bool = True


@dataclass
class FullOptimStateDictConfig(OptimStateDictConfig):
    """Whole tensors; ``rank0_only`` gives the others an empty state."""

    rank0_only: bool = False


@dataclass
class LocalOptimStateDictConfig(OptimStateDictConfig):
    """Refused: there is no memory of several parameters."""

    offload_to_cpu: bool = False


@dataclass
class ShardedOptimStateDictConfig(OptimStateDictConfig):
    """DTensors."""

    _use_dtensor: bool = False


@dataclass
class StateDictSettings:
    """What `FullyShardedDataParallel.set_state_dict_type` sets."""

    state_dict_type: StateDictType = StateDictType.FULL_STATE_DICT
    state_dict_config: StateDictConfig = field(default_factory=FullStateDictConfig)
    optim_state_dict_config: OptimStateDictConfig = field(default_factory=FullOptimStateDictConfig)
