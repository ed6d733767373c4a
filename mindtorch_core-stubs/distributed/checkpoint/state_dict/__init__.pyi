"""`mindtorch_core.ecosystem.distributed.checkpoint.state_dict` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.distributed.checkpoint.state_dict import (
    StateDictOptions as StateDictOptions,
    get_model_state_dict as get_model_state_dict,
    get_optimizer_state_dict as get_optimizer_state_dict,
    get_state_dict as get_state_dict,
    set_model_state_dict as set_model_state_dict,
    set_optimizer_state_dict as set_optimizer_state_dict,
    set_state_dict as set_state_dict,
)
