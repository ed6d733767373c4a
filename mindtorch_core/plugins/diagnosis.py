"""Asking a backend whether what it needs is installed and works."""

from __future__ import annotations

from dataclasses import dataclass

from ..values.errors import BackendUnavailableError

__all__ = ["Diagnosis", "diagnose"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a backend found out about its installation.

    Attributes:
        healthy: whether it can be used.
        text: what was looked at and found, and what to do if it is not healthy; several lines.
    """

    healthy: bool
    text: str


def diagnose(name: str) -> Diagnosis:
    """Have an installed backend examine what it needs, by its hook ``mindtorch_doctor``.

    A backend without the hook is healthy if it loads and finds a device. One that raises is not.

    Args:
        name: the backend's name, as in `backends`.

    Raises:
        BackendUnavailableError: if it is not installed, switched off, or failed to load.
    """
    from ..values.devices import TABLE
    from .loader import ask, backends

    asked = "mindtorch_doctor()"
    try:
        found: object = ask(name, "mindtorch_doctor")
        if found is None:
            asked = "device_count()"
            (status,) = [each for each in backends() if each.name == name]
            count = TABLE[status.device].runtime.device_count()
            found = Diagnosis(count > 0, f"devices: {count}" if count else "no device was found")
    except BackendUnavailableError:
        raise
    except Exception as error:  # noqa: BLE001 (a plugin may raise anything)
        return Diagnosis(False, f"{asked} raised {type(error).__name__}: {error}")
    if not isinstance(found, Diagnosis):
        return Diagnosis(False, f"{asked} must return a Diagnosis, and returned {found!r}")
    return found
