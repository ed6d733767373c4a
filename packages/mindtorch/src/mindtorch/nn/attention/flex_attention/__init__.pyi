"""`mindtorch_core.nn.attention.flex_attention` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.nn.attention.flex_attention import (
    AuxOutput as AuxOutput,
    AuxRequest as AuxRequest,
    BlockMask as BlockMask,
    FlexKernelOptions as FlexKernelOptions,
    and_masks as and_masks,
    create_block_mask as create_block_mask,
    create_mask as create_mask,
    flex_attention as flex_attention,
    noop_mask as noop_mask,
    or_masks as or_masks,
)
