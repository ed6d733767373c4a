"""What a plugin says about itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..runtime import Runtime
from .checking import check_fields
from .versions import OLDEST_PLUGIN_API, PLUGIN_API

if TYPE_CHECKING:
    from .numerics import Numerics

__all__ = ["Backend", "check_api"]


@dataclass(frozen=True, slots=True)
class Backend:
    """Description of a backend, returned by its ``mindtorch_backend`` hook.

    Attributes:
        device: device name that users write, a lower-case identifier such as ``acme``.
        runtime: the device protocol's implementation.
        api: the `PLUGIN_API` it was written for, as a number: ``api=2``. The core takes those from
            `OLDEST_PLUGIN_API` to `PLUGIN_API`.
        key: name of its dispatch key; None takes any free PrivateUse key.
        module: what ``torch.<device>`` shows; None for a `DeviceModule` around the runtime.
        known_failures: name of a file beside the module that the entry point names, which lists the
            tests of `mindtorch_core.testing.conformance` that the backend fails; empty for none.
        numerics: how the device's arithmetic differs from what these tests expect; None for not at all.

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
    numerics: Numerics | None = None

    def __post_init__(self) -> None:
        check_fields(self)


def check_api(api: int) -> None:
    """Refuse a backend that was written for a plugin interface that the core does not serve.

    Raises:
        RuntimeError: saying which of the two distributions to change.
    """
    if OLDEST_PLUGIN_API <= api <= PLUGIN_API:
        return
    fix = (
        "install a newer mindtorch-core, or an older release of the backend"
        if api > PLUGIN_API
        else "install a newer release of the backend, or an older mindtorch-core"
    )
    raise RuntimeError(
        f"it was built for plugin API {api}, and this mindtorch-core serves API "
        f"{OLDEST_PLUGIN_API} to API {PLUGIN_API}: {fix}"
    )
