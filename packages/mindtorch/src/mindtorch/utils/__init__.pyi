"""`mindtorch_core.utils` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.utils import (
    swap_tensors as swap_tensors,
)
from mindtorch_core.utils import (
    benchmark as benchmark,
    checkpoint as checkpoint,
    collect_env as collect_env,
    cpp_extension as cpp_extension,
    data as data,
    deterministic as deterministic,
    dlpack as dlpack,
    flop_counter as flop_counter,
    hooks as hooks,
    model_zoo as model_zoo,
    tensorboard as tensorboard,
)
