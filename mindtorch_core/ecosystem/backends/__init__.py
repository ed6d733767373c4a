"""Settings of libraries that PyTorch uses. None is used here: settings are remembered and change nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...dispatch.nearest import lacking
from . import (
    cpu,
    cuda,
    cudnn,
    cusparselt,
    kleidiai,
    mha,
    miopen,
    mkl,
    mkldnn,
    mps,
    nnpack,
    openmp,
    opt_einsum,
    quantized,
)  # fmt: skip

__all__ = [
    "cpu", "cuda", "cudnn", "cusparselt", "kleidiai", "mha", "miopen", "mkl", "mkldnn", "mps", "nnpack",
    "openmp", "opt_einsum", "quantized",
]  # fmt: skip

fp32_precision: str = "none"

_frozen = False


def disable_global_flags() -> None:
    """Say that settings change in ``with`` blocks only, which `flags_frozen` tells."""
    global _frozen
    _frozen = True


def flags_frozen() -> bool:
    """Whether `disable_global_flags` was called."""
    return _frozen


@contextmanager
def __allow_nonbracketed_mutation() -> Iterator[None]:
    """Inside, settings may change in every way."""
    global _frozen
    before, _frozen = _frozen, False
    try:
        yield
    finally:
        _frozen = before


if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = lacking(sys.modules[__name__])
