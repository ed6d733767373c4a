"""The include and exclude masks of each thread, which every call applies to its keys."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from .key_order import AUTOGRAD, DispatchKey, mask_of
from .keyset import DispatchKeySet, as_mask

__all__ = ["apply_tls_masks", "exclude_keys", "include_keys"]


class ThreadMasks(threading.local):
    """The masks of one thread; a new thread starts with the defaults.

    Attributes:
        include: keys added to every call.
        keep: complement of the excluded keys; exclusion wins over inclusion.
        blocked: keys that guards took out, so that enabling gradients does not bring them back.
    """

    include = 0
    keep = -1
    blocked = 0


MASKS: Final = ThreadMasks()

# Keys added to the calls of every thread (the pipeline's, while one is open anywhere).
PROCESS_INCLUDE: Final = [0]

# Holds an element while any thread's masks, or the process's, may differ from the defaults. The
# call path tests only this list: eight nanoseconds where reading two thread-locals costs sixty.
ACTIVE: Final[list[int]] = []


def activate() -> None:
    """Announce that some mask differs from the defaults; pair it with `deactivate`."""
    ACTIVE.append(1)  # atomic: no lock


def deactivate() -> None:
    """Take one `activate` back."""
    ACTIVE.pop()


def effective(mask: int) -> int:
    """Apply the masks of this thread and of the process to the keys of a call."""
    return (mask | MASKS.include | PROCESS_INCLUDE[0]) & MASKS.keep


def apply_tls_masks(mask: DispatchKeySet | int) -> int:
    """The mask a call with these keys dispatches on in this thread, as an int."""
    return effective(as_mask(mask))


def include_everywhere(mask: int) -> None:
    """Add keys to the calls of every thread, until `exclude_everywhere`."""
    PROCESS_INCLUDE[0] |= mask
    activate()


def exclude_everywhere(mask: int) -> None:
    """Take an `include_everywhere` back."""
    PROCESS_INCLUDE[0] &= ~mask
    deactivate()


def set_masks(include: int, keep: int) -> tuple[int, int]:
    """Replace this thread's masks outright and return the previous pair.

    The caller restores them with a second call; the hot path's flag is kept in step.
    """
    m = MASKS
    previous = (m.include, m.keep)
    was = previous != (0, -1)
    now = (include, keep) != (0, -1)
    m.include = include
    m.keep = keep
    if now and not was:
        activate()
    elif was and not now:
        deactivate()
    return previous


@contextmanager
def include_keys(*keys: DispatchKeySet | DispatchKey | int) -> Iterator[None]:
    """Add keys to every call of this thread while the context lasts."""
    wanted = mask_of(as_mask(k) for k in keys)
    previous = set_masks(MASKS.include | wanted, MASKS.keep)
    try:
        yield
    finally:
        set_masks(*previous)


@contextmanager
def exclude_keys(*keys: DispatchKeySet | DispatchKey | int) -> Iterator[None]:
    """Remove keys from every call of this thread while the context lasts.

    Unlike PyTorch, excluding one backend's key leaves the other backends alone. Excluding the
    ``Autograd`` alias excludes every Autograd key.
    """
    unwanted = mask_of(as_mask(k) for k in keys)
    if unwanted & DispatchKey.Autograd:
        unwanted |= AUTOGRAD
    with block_keys(unwanted):
        yield


@contextmanager
def block_keys(unwanted: int) -> Iterator[None]:
    """Remove the bits of a mask from every call of this thread while the context lasts."""
    blocked = MASKS.blocked
    previous = set_masks(MASKS.include, MASKS.keep & ~unwanted)
    MASKS.blocked = blocked | unwanted
    try:
        yield
    finally:
        MASKS.blocked = blocked
        set_masks(*previous)
