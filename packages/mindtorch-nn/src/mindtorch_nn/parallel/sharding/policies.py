"""What `fully_shard` is told of dtypes, and of where parts lie."""

from __future__ import annotations

from dataclasses import dataclass

import mindtorch_core as torch

__all__ = ["CPUOffloadPolicy", "MixedPrecisionPolicy", "OffloadPolicy"]


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The dtypes that a module computes in; its parts keep theirs.

    Attributes:
        param_dtype: of parameters in forward and backward; their own by default.
        reduce_dtype: in which gradients are added up over processes; that of the gradients by default.
        output_dtype: to which floating point results of forward are cast.
        cast_forward_inputs: whether floating point arguments of forward are cast to ``param_dtype``.
    """

    param_dtype: torch.dtype | None = None
    reduce_dtype: torch.dtype | None = None
    output_dtype: torch.dtype | None = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Parts, their gradients and the optimizer's states lie on the device of the mesh."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """They lie in host memory, and go to the device when they are gathered.

    Attributes:
        pin_memory: accepted; no backend has page-locked memory.
    """

    pin_memory: bool = True
