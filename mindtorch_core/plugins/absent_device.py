"""What ``torch.cuda`` and the like show where no installed backend provides such devices."""

from __future__ import annotations

from typing import Any

__all__ = ["AbsentDevice"]


class AbsentDevice:
    """Device functions that programs call before they choose a device: there is none of this type.

    Anything else raises AttributeError and says that the backend is missing.
    """

    def __init__(self, type: str) -> None:
        self._type = type

    def is_available(self) -> bool:
        """False: there is no device of this type."""
        return False

    def device_count(self) -> int:
        """0, the number of devices of this type."""
        return 0

    def manual_seed(self, seed: int) -> None:
        """Do nothing: there is no generator to seed."""

    def manual_seed_all(self, seed: int) -> None:
        """Do nothing: there are no generators to seed."""

    def empty_cache(self) -> None:
        """Do nothing: there is no memory to return."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"torch.{self._type} has no attribute {name!r}, because no installed backend provides "
            f"the device '{self._type}'"
        )

    def __repr__(self) -> str:
        return f"<device functions of {self._type}, which no installed backend provides>"
