"""What becomes of the tensors of a backend that is unloaded: they refuse every use, and say why.

Neither they nor their storages are looked for. Their device is not one any more for which there is a
runtime, and calls with their dispatch key, which may be given to another backend, look at devices.
"""

from __future__ import annotations

from ..deferred.blocks import flush_current
from ..deferred.programs import PROGRAMS
from ..dispatch.retired import retire_key
from ..gradients.roots import forget_ones
from ..random import forget_generators
from ..values.devices import TABLE, retire_devices

__all__ = ["retire"]


def retire(device: str) -> None:
    """Make the tensors of a device type unusable, and forget what is kept for it."""
    flush_current()
    forget_generators(device)
    forget_ones(device)
    PROGRAMS.forget(device)
    retire_key(TABLE[device].key)
    retire_devices(device)
