"""Settings of libraries that PyTorch uses. None is used here: settings are remembered and change nothing."""

from __future__ import annotations

from . import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum, quantized

__all__ = [
    "cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum", "quantized",
]  # fmt: skip

fp32_precision: str = "none"
