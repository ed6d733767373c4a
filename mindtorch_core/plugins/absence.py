"""Why no installed backend serves a device, and what to do about it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from ..dispatch.nearest import suggestion
from ..values.devices import KNOWN_TYPES
from ..values.dtypes import DTYPES
from ..values.errors import BackendUnavailableError, NoAcceleratorError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .loader import BackendStatus

__all__ = ["unavailable", "unknown_names"]

# Devices whose distribution is mindtorch's own. Of no other may an error say what to install: who follows
# that would run what anybody puts under the name.
_OURS: Final = {name: f"mindtorch-{name}" for name in ("cpu", "meta", "npu")}
_ASSERTED: Final = frozenset({"cuda", "mtia", "xpu"})  # PyTorch's error for these is an assertion's
_HOSTS: Final = frozenset({"cpu", "meta"})
_ANY_ACCELERATOR: Final = frozenset({"accelerator", "gpu"})


def unavailable(
    device: str, found: Mapping[str, BackendStatus], variable: str
) -> tuple[BackendUnavailableError, BaseException | None]:
    """The error for a device that no backend serves, and the exception that is the cause of it.

    Args:
        device: its type.
        found: the installed backends by name.
        variable: of the environment, which chooses among them.
    """
    kind = NoAcceleratorError if device in _ASSERTED else BackendUnavailableError
    if device in found:
        status = found[device]
        text = {
            "failed": f"failed to load: {type(status.error).__name__}: {status.error} "
            f"(at {status.place})",
            "disabled": f"is switched off by {variable}={os.environ.get(variable, '')}",
            "loading": "is still being loaded: its module may name the device only in functions "
            "that run later, such as mindtorch_register",
            "loaded": f"serves the device '{status.device}'",
        }[status.state]
        error = f"the '{device}' backend of {status.distribution} {text}"
        return kind(error, device=device), status.error
    failed = {n: s.error for n, s in found.items() if s.state == "failed"}
    names = [f"{n} (failed to load: {failed[n]})" if n in failed else n for n in sorted(found)]
    installed = ", ".join(names) or "none"
    package = _OURS.get(device.replace("_", "-"))
    if device in KNOWN_TYPES:
        text = f"no installed backend provides the device '{device}' (installed: {installed})."
        fix = f"pip install {package}" if package is not None else _other_devices(found)
    else:
        text = (
            f"Expected a known device type at start of device string: {device}. No installed "
            f"backend provides it (installed: {installed})."
        )
        if device in DTYPES:
            text += f" Did you mean torch.{device}?"
            fix = f"give a dtype as the object torch.{device}; a string names a device"
        elif device in _ANY_ACCELERATOR:
            fix = _other_devices(found)
        else:
            text += suggestion(device, found)
            fix = (
                "`mindtorch backends` lists the devices there are; a vendor's package adds its own"
            )
    text = f"{text}\n  fix: {fix}"
    return kind(text, device=device, package=package), None


def _other_devices(found: Mapping[str, BackendStatus]) -> str:
    """Advice for who asks for an accelerator that is not there: those that are."""
    usable = [n for n, s in sorted(found.items()) if s.state not in ("failed", "disabled")]
    served = [found[n].device or n for n in usable]
    others = " or ".join([f"device='{n}'" for n in served if n not in _HOSTS])
    if others:
        return f"use the accelerator that is installed: {others}"
    return "use device='cpu': no backend of an accelerator is installed"


def unknown_names(variable: str, chosen: Iterable[str], found: Iterable[str]) -> str:
    """What is wrong with names that choose backends; empty if all of them are installed.

    Args:
        variable: of the environment, which has the names.
        chosen: the names.
        found: of the installed backends.
    """
    installed = sorted(found)
    unknown = sorted({*chosen}.difference(installed))
    if not unknown:
        return ""
    near = suggestion(unknown[0], installed) if len(unknown) == 1 else ""
    return (
        f"{variable}={os.environ.get(variable, '')} chooses what is not installed: "
        f"{', '.join(unknown)} (installed: {', '.join(installed) or 'none'}).{near}"
    )
