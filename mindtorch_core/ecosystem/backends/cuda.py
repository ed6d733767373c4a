"""Settings of CUDA's libraries, which are not there: remembered, and without effect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

from ...values.user_warnings import warn_user
from ..absent import names_of
from .settings import Settings

__all__ = [
    "SDPAParams",
    "can_use_cudnn_attention",
    "can_use_efficient_attention",
    "can_use_flash_attention",
    "cudnn_sdp_enabled",
    "enable_cudnn_sdp",
    "enable_flash_sdp",
    "enable_math_sdp",
    "enable_mem_efficient_sdp",
    "flash_sdp_enabled",
    "is_built",
    "is_flash_attention_available",
    "math_sdp_enabled",
    "matmul",
    "mem_efficient_sdp_enabled",
    "preferred_blas_library",
    "preferred_linalg_library",
    "sdp_kernel",
]  # fmt: skip

__getattr__ = names_of(__name__)

matmul = Settings(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
    allow_fp16_accumulation=False,
    fp32_precision="none",
)
cufft_plan_cache = Settings(size=0, max_size=0)
fp32_precision: str = "none"
_attention: Final = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True}


def is_built() -> bool:
    """False: nothing was built for CUDA."""
    return False


def is_flash_attention_available() -> bool:
    """False: there are no such kernels."""
    return False


class SDPAParams:
    """What attention would be asked for; see `can_use_flash_attention`."""

    def __init__(
        self, query: Any, key: Any, value: Any, attn_mask: Any, dropout: float, is_causal: bool,
        enable_gqa: bool = False,
    ) -> None:  # fmt: skip
        self.query, self.key, self.value, self.attn_mask = query, key, value, attn_mask
        self.dropout, self.is_causal, self.enable_gqa = dropout, is_causal, enable_gqa


def can_use_flash_attention(params: SDPAParams, debug: bool = False) -> bool:
    """False: there are no such kernels."""
    return False


can_use_cudnn_attention = can_use_efficient_attention = can_use_flash_attention


def is_ck_sdpa_available() -> bool:
    """False: there are no such kernels."""
    return False


def flash_sdp_enabled() -> bool:
    """What `enable_flash_sdp` was told."""
    return _attention["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Remember whether attention may use flash kernels, of which there are none."""
    _attention["flash"] = enabled


def math_sdp_enabled() -> bool:
    """What `enable_math_sdp` was told."""
    return _attention["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Remember whether attention may be made of other ops; it is in any case."""
    _attention["math"] = enabled


def mem_efficient_sdp_enabled() -> bool:
    """What `enable_mem_efficient_sdp` was told."""
    return _attention["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Remember whether attention may use kernels that save memory, of which there are none."""
    _attention["mem_efficient"] = enabled


def cudnn_sdp_enabled() -> bool:
    """What `enable_cudnn_sdp` was told."""
    return _attention["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Remember whether attention may use cuDNN, which is not there."""
    _attention["cudnn"] = enabled


def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> AbstractContextManager[None]:
    """Settings of attention while the block lasts."""
    warn_user(
        "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be "
        "removed. Please see `torch.nn.attention.sdpa_kernel()` for the new context manager, with updated "
        "signature.",
        FutureWarning,
    )
    return _attending(
        flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn
    )


@contextmanager
def _attending(**settings: bool) -> Iterator[None]:
    before = dict(_attention)
    _attention.update(settings)
    try:
        yield
    finally:
        _attention.update(before)


def preferred_linalg_library(backend: str | None = None) -> str:
    """``default``: there is no choice."""
    return "default"


def preferred_blas_library(backend: str | None = None) -> str:
    """``default``: there is no choice."""
    return "default"
