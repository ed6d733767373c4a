"""``torch.npu``."""

from __future__ import annotations

from typing import Any, Final

from mindtorch_core.backend import OutOfMemoryError
from mindtorch_core.backend import device as Device
from mindtorch_core.plugins import DeviceModule

from .contexts import CONTEXTS
from .devices import device_at
from .runtime import RUNTIME
from .streams import index_of

__all__ = ["MODULE", "NAMES", "NPUModule"]


class NPUModule(DeviceModule):
    """Functions of NPUs under the names that ``torch.cuda`` has for CUDA's devices."""

    OutOfMemoryError = OutOfMemoryError

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

    def set_device(self, device: Device | str | int) -> None:
        """Make a device current for this thread; a negative number changes nothing.

        Raises:
            RuntimeError: if NPUs cannot be used, as in a forked child of a process that uses them.
        """
        super().set_device(device)
        if CONTEXTS.over:
            CONTEXTS.start()

    def is_initialized(self) -> bool:
        """Whether the toolkit has been initialised."""
        return CONTEXTS.alive

    def get_soc_name(self) -> str:
        """Name of the chip, such as ``Ascend910B3``."""
        return RUNTIME.name()

    def set_per_process_memory_fraction(
        self, fraction: float, device: Device | str | int | None = None
    ) -> None:
        """Let tensors take no more than a part of a device's memory.

        Args:
            fraction: which part, from 0 to 1.
            device: the device, the current one by default.
        """
        if not isinstance(fraction, float):
            raise TypeError("Invalid type for fraction argument, must be `float`")
        if not 0 <= fraction <= 1:
            raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
        on = self._at(device)
        total = RUNTIME.memory_info(on)[1]
        device_at(index_of(on)).allocator.allowed = int(total * fraction)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"module 'torch.npu' has no attribute {name!r}")


# Not `amp`, which is imported when somebody asks for it.
NAMES: Final = tuple(sorted(n for n in dir(NPUModule) if not n.startswith("_") and n != "amp"))
MODULE: Final = NPUModule()
