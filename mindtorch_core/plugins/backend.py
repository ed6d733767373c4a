"""What a plugin says about itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..runtime import Runtime
from .checking import check_fields

__all__ = ["PLUGIN_API", "Backend"]

# Raised when a change breaks plugins built for the number before.
PLUGIN_API: Final = 1


@dataclass(frozen=True, slots=True)
class Backend:
    """Description of a backend, returned by its ``mindtorch_backend`` hook.

    Attributes:
        device: device name that users write, a lower-case identifier such as ``acme``.
        runtime: the device protocol's implementation.
        api: the `PLUGIN_API` it was written for, as a number: ``api=1``.
        key: name of its dispatch key; None takes any free PrivateUse key.
        module: what ``torch.<device>`` shows; None for a `DeviceModule` around the runtime.
        known_failures: name of a file beside the module that the entry point names, which lists the
            tests of `mindtorch_core.testing.conformance` that the backend fails; empty for none.

    Raises:
        TypeError: if a field has another type, or the runtime has a method that cannot take what the
            protocol says it is called with.
    """

    device: str
    runtime: Runtime
    api: int
    key: str | None = None
    module: Any = None
    known_failures: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
