"""`mindtorch_nn.optim.swa_utils` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.optim.swa_utils import (
    AveragedModel as AveragedModel,
    SWALR as SWALR,
    get_ema_avg_fn as get_ema_avg_fn,
    get_ema_multi_avg_fn as get_ema_multi_avg_fn,
    get_swa_avg_fn as get_swa_avg_fn,
    get_swa_multi_avg_fn as get_swa_multi_avg_fn,
    update_bn as update_bn,
)
