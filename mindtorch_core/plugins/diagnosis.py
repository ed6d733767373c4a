"""Asking a backend whether what it needs is installed and works."""

from __future__ import annotations

from dataclasses import dataclass

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


def diagnose(device: str) -> Diagnosis:
    """Have a device's backend examine its installation, by its hook ``mindtorch_doctor``.

    A backend without the hook is healthy if it loads and finds a device.

    Raises:
        BackendUnavailableError: if no backend serves the device, or it does not load.
    """
    from . import loader

    row = loader.load(device)
    found = loader.ask(device, "mindtorch_doctor")
    if found is not None:
        diagnosis: Diagnosis = found
        return diagnosis
    count = row.runtime.device_count()
    return Diagnosis(count > 0, f"devices: {count}" if count else "no device was found")
