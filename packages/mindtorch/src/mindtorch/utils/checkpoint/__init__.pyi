"""`mindtorch_core.utils.checkpoint` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.utils.checkpoint import (
    CheckpointError as CheckpointError,
    CheckpointFunction as CheckpointFunction,
    CheckpointPolicy as CheckpointPolicy,
    SAC_IGNORED_OPS as SAC_IGNORED_OPS,
    SelectiveCheckpointContext as SelectiveCheckpointContext,
    check_backward_validity as check_backward_validity,
    checkpoint as checkpoint,
    checkpoint_sequential as checkpoint_sequential,
    create_selective_checkpoint_contexts as create_selective_checkpoint_contexts,
    detach_variable as detach_variable,
    get_device_states as get_device_states,
    noop_context_fn as noop_context_fn,
    set_checkpoint_debug_enabled as set_checkpoint_debug_enabled,
    set_checkpoint_early_stop as set_checkpoint_early_stop,
    set_device_states as set_device_states,
)
