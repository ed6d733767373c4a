"""Modules of which each process computes a part: tensor parallelism over DTensors.

The public face is ``torch.distributed.tensor.parallel``.
"""

from __future__ import annotations

from .parallelize import parallelize_module
from .prepared import PrepareModuleInput, PrepareModuleInputOutput, PrepareModuleOutput
from .styles import ColwiseParallel, ParallelStyle, RowwiseParallel, SequenceParallel

__all__ = [
    "ColwiseParallel",
    "ParallelStyle",
    "PrepareModuleInput",
    "PrepareModuleInputOutput",
    "PrepareModuleOutput",
    "RowwiseParallel",
    "SequenceParallel",
    "parallelize_module",
]
