"""Kernels of the ops that the core defines on demand. Importing this module registers them."""

from . import (
    activations,
    combined,
    convolution,
    counting,
    elementwise,
    fft,
    lapack,
    order,
    pooling,
    resampling,
    sampling,
    scans,
    special,
)

__all__ = [
    "activations",
    "combined",
    "convolution",
    "counting",
    "elementwise",
    "fft",
    "lapack",
    "order",
    "pooling",
    "resampling",
    "sampling",
    "scans",
    "special",
]
