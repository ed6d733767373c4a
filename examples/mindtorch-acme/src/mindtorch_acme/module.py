"""``torch.acme``: PyTorch's device functions, and one of Acme's own."""

from __future__ import annotations

from typing import Any

from mindtorch_core.plugins import DeviceModule

from .runtime import RUNTIME
from .streams import queue_of

__all__ = ["MODULE"]


class AcmeModule(DeviceModule):
    """What users reach as ``torch.acme``."""

    def is_idle(self, device: Any = None) -> bool:
        """Whether a device's current stream has nothing left to do."""
        return queue_of(self.current_stream(device)).done()


MODULE = AcmeModule(RUNTIME)
