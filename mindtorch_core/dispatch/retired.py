"""Keys that a backend has had which was unloaded: no op takes what lies on a device that went with it.

Another backend may be given the key, and its kernels must never get the memory of the one before. A call
with such a key looks at its tensors' devices first; all others cost what they did.
"""

from __future__ import annotations

from typing import Any, Final

from ..values.devices import is_retired, unloaded
from .adapters import tensors_in
from .entry import Kernel

__all__ = ["RETIRED", "refusing", "retire_key"]

RETIRED: Final = [0]  # the bits of the keys


def retire_key(key: int) -> None:
    """Have the calls with a backend's key look at devices, from the next registration on."""
    RETIRED[0] |= key


def refusing(kernel: Kernel) -> Kernel:
    """A kernel that refuses tensors whose backend was unloaded.

    Raises:
        BackendUnavailableError: if there is one among its arguments.
    """

    def kernel_of_living(*args: Any, **kwargs: Any) -> Any:
        for t in tensors_in((*args, *kwargs.values())):
            if is_retired(t._device):
                raise unloaded(t._device.type)
        return kernel(*args, **kwargs)

    return kernel_of_living
