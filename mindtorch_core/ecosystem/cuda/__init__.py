"""``torch.cuda`` as a module: the functions of such devices, or that there are none."""

from ...values.errors import OutOfMemoryError
from ..device_faces import show
from ..process_settings import AcceleratorError
from . import amp

__all__ = [
    "AcceleratorError", "CudaError", "DeferredCudaCallError", "OutOfMemoryError", "amp", "cudaStatus",
]  # fmt: skip


class CudaError(RuntimeError):
    """A number that CUDA's functions return for a failure: nothing raises it here."""

    def __init__(self, code: int) -> None:
        super().__init__(f"CUDA's error {code}")


class DeferredCudaCallError(Exception):
    """A failure of what waited for CUDA to be initialised: nothing raises it here."""


class cudaStatus:
    """Numbers that CUDA's functions return."""

    SUCCESS: int = 0
    ERROR_NOT_READY: int = 34


show(__name__)
