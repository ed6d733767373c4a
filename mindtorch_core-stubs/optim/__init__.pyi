"""`mindtorch_nn.optim` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.optim import (
    ASGD as ASGD,
    Adadelta as Adadelta,
    Adafactor as Adafactor,
    Adagrad as Adagrad,
    Adam as Adam,
    AdamW as AdamW,
    Adamax as Adamax,
    LBFGS as LBFGS,
    Muon as Muon,
    NAdam as NAdam,
    Optimizer as Optimizer,
    RAdam as RAdam,
    RMSprop as RMSprop,
    Rprop as Rprop,
    SGD as SGD,
    SparseAdam as SparseAdam,
)
from mindtorch_core.optim import (
    lr_scheduler as lr_scheduler,
    optimizer as optimizer,
    swa_utils as swa_utils,
)
