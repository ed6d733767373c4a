"""Names of backends, as `init_process_group` takes them: `Backend`."""

from __future__ import annotations

from typing import ClassVar

__all__ = ["Backend"]


class Backend(str):
    """A backend's name in small letters.

    Raises:
        ValueError: for something that is no text.
    """

    UNDEFINED: ClassVar[str] = "undefined"
    GLOO: ClassVar[str] = "gloo"
    NCCL: ClassVar[str] = "nccl"
    UCC: ClassVar[str] = "ucc"
    MPI: ClassVar[str] = "mpi"
    XCCL: ClassVar[str] = "xccl"
    backend_list: ClassVar[list[str]] = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI]
    # What stands for the communicator of a type of device, where a program asks for a name.
    default_device_backend_map: ClassVar[dict[str, str]] = {
        "cpu": GLOO,
        "cuda": NCCL,
        "xpu": XCCL,
        "mps": GLOO,
    }

    def __new__(cls, name: str) -> Backend:
        """The name."""
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish: got {name!r}")
        return super().__new__(cls, name.lower())
