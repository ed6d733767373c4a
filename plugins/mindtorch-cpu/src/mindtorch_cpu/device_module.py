"""``torch.cpu``."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from mindtorch_core.plugins import DeviceModule

from .runtime import RUNTIME

__all__ = ["CPUModule"]


class CPUModule(DeviceModule):
    """Functions of the host's processor."""

    def __init__(self) -> None:
        super().__init__(RUNTIME)

    @functools.lru_cache  # noqa: B019  there is one module
    def get_capabilities(self) -> Mapping[str, Any]:
        """What the processor can do, under PyTorch's names: ``avx2``, ``sve``, ``architecture``.

        Returns:
            Flags, numbers and texts that cannot be changed. Where the system tells nothing of
            flags (not Linux), those are missing.
        """
        from .processor import capabilities

        return capabilities()

    def is_initialized(self) -> bool:
        """True."""
        return True
