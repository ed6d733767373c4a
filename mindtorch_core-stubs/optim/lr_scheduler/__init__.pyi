"""`mindtorch_nn.optim.lr_scheduler` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.optim.lr_scheduler import (
    ChainedScheduler as ChainedScheduler,
    ConstantLR as ConstantLR,
    CosineAnnealingLR as CosineAnnealingLR,
    CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts,
    CyclicLR as CyclicLR,
    EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING,
    ExponentialLR as ExponentialLR,
    LRScheduler as LRScheduler,
    LambdaLR as LambdaLR,
    LinearLR as LinearLR,
    MultiStepLR as MultiStepLR,
    MultiplicativeLR as MultiplicativeLR,
    OneCycleLR as OneCycleLR,
    PolynomialLR as PolynomialLR,
    ReduceLROnPlateau as ReduceLROnPlateau,
    SequentialLR as SequentialLR,
    StepLR as StepLR,
)
