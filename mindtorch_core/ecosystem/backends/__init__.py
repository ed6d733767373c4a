"""Settings of libraries that PyTorch uses. None is used here: settings are remembered and change nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ...dispatch.nearest import lacking
from . import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum, quantized

__all__ = [
    "cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum", "quantized",
]  # fmt: skip

fp32_precision: str = "none"

if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = lacking(sys.modules[__name__])
