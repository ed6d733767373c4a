"""The Autocast keys: which backend each of them is for.

Tensors carry no Autocast key. Autocast puts its key into a thread's include mask, and so into every
call of the thread; `passes` tells the calls that it is not meant for.
"""

from __future__ import annotations

from typing import Final

from .key_order import BACKEND_KEYS, BACKENDS, DispatchKey, mask_of

__all__ = ["AUTOCAST", "AUTOCAST_OF", "passes"]

# Backends without such a key have no autocast, as in PyTorch.
AUTOCAST_OF: Final[dict[DispatchKey, DispatchKey]] = {
    b: DispatchKey[f"Autocast{b.name}"]
    for b in BACKEND_KEYS
    if f"Autocast{b.name}" in DispatchKey.__members__
}
AUTOCAST: Final = mask_of(AUTOCAST_OF.values())


def passes(key: DispatchKey, mask: int) -> bool:
    """Whether a key of a mask is skipped: an Autocast key on a call of another backend."""
    backends = mask & BACKENDS
    if not key & AUTOCAST or not backends:
        return False
    strongest = DispatchKey(1 << (backends.bit_length() - 1))
    return AUTOCAST_OF.get(strongest) is not key
