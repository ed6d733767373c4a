"""``torch.npu``."""

from __future__ import annotations

from typing import Final

from mindtorch_core.plugins.device_module import DeviceModule

from .contexts import CONTEXTS
from .runtime import RUNTIME

__all__ = ["MODULE", "NAMES", "NPUModule"]


class NPUModule(DeviceModule):
    """Functions of NPUs under the names that ``torch.cuda`` has for CUDA's devices."""

    def __init__(self) -> None:
        super().__init__(RUNTIME)
        # One object for each function, however it is reached: `torch.npu.f is mindtorch_npu.f`.
        self.__dict__.update({name: getattr(self, name) for name in NAMES})

    def init(self) -> None:
        """Initialise the toolkit now instead of at first use.

        Raises:
            RuntimeError: if there is none, or it does not start.
        """
        CONTEXTS.start()

    def is_initialized(self) -> bool:
        """Whether the toolkit has been initialised."""
        return CONTEXTS.alive

    def get_soc_name(self) -> str:
        """Name of the chip, such as ``Ascend910B3``."""
        return RUNTIME.name()


NAMES: Final = tuple(sorted(n for n in dir(NPUModule) if not n.startswith("_")))
MODULE: Final = NPUModule()
