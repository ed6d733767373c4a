"""`mindtorch_core.autograd.graph` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.autograd.graph import (
    GradientEdge as GradientEdge,
    Node as Node,
    allow_mutation_on_saved_tensors as allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks as disable_saved_tensors_hooks,
    get_gradient_edge as get_gradient_edge,
    increment_version as increment_version,
    register_multi_grad_hook as register_multi_grad_hook,
    save_on_cpu as save_on_cpu,
    saved_tensors_hooks as saved_tensors_hooks,
)
