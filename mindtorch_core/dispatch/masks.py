"""The include and exclude masks of each thread, which every call applies to its keys."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from ..values.interrupts import contextmanager, surely
from .key_order import AUTOGRAD, AUTOGRAD_RUNTIME, DispatchKey, mask_of
from .keyset import DispatchKeySet, as_mask

__all__ = ["apply_tls_masks", "exclude_keys", "include_keys", "is_grad_enabled", "is_recording"]

T = TypeVar("T")


class ThreadMasks(threading.local):
    """The masks of one thread; a new thread starts with the defaults.

    Calls read ``__dict__``: it takes 30 ns, and each mask in it 20, where an attribute takes 90.

    Attributes:
        include: keys added to every call.
        keep: complement of the excluded keys; exclusion wins over inclusion.
        blocked: keys that guards took out, so that enabling gradients does not bring them back.
    """

    def __init__(self) -> None:
        self.include = 0
        self.keep = -1
        self.blocked = 0


MASKS: Final = ThreadMasks()
_ENABLED: Final = int(DispatchKey.Autograd)  # plain ints are found faster than members of enums

# Keys added to the calls of every thread (the pipeline's, while one is open anywhere).
PROCESS_INCLUDE: Final = [0]

# Holds an element for each thread whose masks differ from the defaults, and one while the process's
# do. The call path tests only this list: eight nanoseconds where reading two thread-locals costs
# sixty.
ACTIVE: Final[list[int]] = []


def effective(mask: int) -> int:
    """Apply the masks of this thread and of the process to the keys of a call."""
    own = MASKS.__dict__
    masked: int = (mask | own["include"] | PROCESS_INCLUDE[0]) & own["keep"]
    return masked


def apply_tls_masks(mask: DispatchKeySet | int) -> int:
    """The mask a call with these keys dispatches on in this thread, as an int."""
    return effective(as_mask(mask))


def is_grad_enabled() -> bool:
    """Whether ops are recorded in this thread.

    Example:
        >>> with torch.no_grad():
        ...     print(torch.is_grad_enabled())
        False
    """
    return bool(MASKS.keep & _ENABLED)


def is_recording() -> bool:
    """Whether ops on tensors that require grad are recorded: never in inference mode."""
    return bool(MASKS.keep & AUTOGRAD_RUNTIME)


def set_masks(include: int, keep: int) -> tuple[int, int]:
    """Replace this thread's masks outright and return the previous pair.

    The caller restores them with a second call; the hot path's flag is kept in step. Interrupts
    (Ctrl-C) come where functions begin and where calls have ended: they find all of it done or
    nothing, as nothing is called here.
    """
    own, active = MASKS.__dict__, ACTIVE
    previous = (own["include"], own["keep"])
    was = previous != (0, -1)
    now = (include, keep) != (0, -1)
    own["include"] = include
    own["keep"] = keep
    if now and not was:
        active += (1,)
    elif was and not now:
        del active[-1:]
    return previous


def with_masks(include: int, keep: int, call: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
    """``call(*args, **kwargs)`` with other masks, which no interrupt leaves in force."""
    own, active = MASKS.__dict__, ACTIVE
    before, kept, blocked = own["include"], own["keep"], own["blocked"]
    try:  # nothing is called before `call`, and nothing after it: interrupts come with calls alone
        # Whether a key is none is asked by a comparison: the truth of enums is a call.
        if before == 0 and kept == -1:
            if include != 0 or keep != -1:
                active += (1,)
        elif include == 0 and keep == -1:
            del active[-1:]
        own["include"] = include
        own["keep"] = keep
        return call(*args, **kwargs)
    finally:  # what was interrupted inside may have left others than these
        set_now = own["include"] != 0 or own["keep"] != -1
        own["include"] = before
        own["keep"] = kept
        own["blocked"] = blocked
        if before != 0 or kept != -1:
            if not set_now:
                active += (1,)
        elif set_now:
            del active[-1:]


def without_gradients(call: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
    """``call(*args, **kwargs)``, with nothing recorded for backward."""
    return with_masks(MASKS.include, MASKS.keep & ~AUTOGRAD, call, *args, **kwargs)


@contextmanager
def include_keys(*keys: DispatchKeySet | DispatchKey | int) -> Iterator[None]:
    """Add keys to every call of this thread while the context lasts."""
    wanted = mask_of(as_mask(k) for k in keys)
    previous = set_masks(MASKS.include | wanted, MASKS.keep)
    try:
        yield
    finally:
        surely(lambda: set_masks(*previous))


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
    try:
        MASKS.blocked = blocked | unwanted
        yield
    finally:
        MASKS.blocked = blocked
        surely(lambda: set_masks(*previous))
