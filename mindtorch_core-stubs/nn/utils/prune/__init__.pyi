"""`mindtorch_nn.utils.prune` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.utils.prune import (
    BasePruningMethod as BasePruningMethod,
    CustomFromMask as CustomFromMask,
    Identity as Identity,
    L1Unstructured as L1Unstructured,
    LnStructured as LnStructured,
    PruningContainer as PruningContainer,
    RandomStructured as RandomStructured,
    RandomUnstructured as RandomUnstructured,
    custom_from_mask as custom_from_mask,
    global_unstructured as global_unstructured,
    identity as identity,
    is_pruned as is_pruned,
    l1_unstructured as l1_unstructured,
    ln_structured as ln_structured,
    random_structured as random_structured,
    random_unstructured as random_unstructured,
    remove as remove,
)
