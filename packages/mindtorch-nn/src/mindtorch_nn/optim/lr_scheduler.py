"""Schedules of learning rates: the names of ``torch.optim.lr_scheduler``."""

from __future__ import annotations

from .schedules.base import EPOCH_DEPRECATION_WARNING, LRScheduler
from .schedules.combined import ChainedScheduler, SequentialLR
from .schedules.cycles import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from .schedules.decays import (
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from .schedules.plateau import ReduceLROnPlateau

__all__ = [
    "EPOCH_DEPRECATION_WARNING",
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

_LRScheduler = LRScheduler  # its name in older programs
