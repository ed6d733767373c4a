"""Which version of PyTorch's interface this is, and that nothing was built for another maker's cards."""

from __future__ import annotations

from .torch_version import __version__

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "xpu"]

debug: bool = False
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
git_version: str = "Unknown"
