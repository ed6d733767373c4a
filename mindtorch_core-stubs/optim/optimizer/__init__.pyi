"""`mindtorch_nn.optim.optimizer` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.optim.optimizer import (
    Optimizer as Optimizer,
    register_optimizer_step_post_hook as register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook as register_optimizer_step_pre_hook,
)
