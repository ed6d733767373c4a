"""`mindtorch_core.backends.cuda` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.backends.cuda import (
    SDPAParams as SDPAParams,
    can_use_cudnn_attention as can_use_cudnn_attention,
    can_use_efficient_attention as can_use_efficient_attention,
    can_use_flash_attention as can_use_flash_attention,
    cudnn_sdp_enabled as cudnn_sdp_enabled,
    enable_cudnn_sdp as enable_cudnn_sdp,
    enable_flash_sdp as enable_flash_sdp,
    enable_math_sdp as enable_math_sdp,
    enable_mem_efficient_sdp as enable_mem_efficient_sdp,
    flash_sdp_enabled as flash_sdp_enabled,
    is_built as is_built,
    is_flash_attention_available as is_flash_attention_available,
    math_sdp_enabled as math_sdp_enabled,
    matmul as matmul,
    mem_efficient_sdp_enabled as mem_efficient_sdp_enabled,
    preferred_blas_library as preferred_blas_library,
    preferred_linalg_library as preferred_linalg_library,
    sdp_kernel as sdp_kernel,
)
