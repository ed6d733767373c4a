"""Dispatch keys, sets of them, and the thread's include and exclude masks.

A key is one bit of an int, and a higher bit is a higher priority: the winner of a mask is its
highest bit. The order of the runtime keys is PyTorch 2.4's, with `DispatchKey.Pipeline` directly
below `DispatchKey.BackendSelect`. Alias keys name groups of runtime keys at registration; in a
mask they stand for the members that the mask's backends imply.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, Final

__all__ = [
    "DISPATCH_KEY_PRIORITY",
    "DispatchKey",
    "DispatchKeySet",
    "apply_tls_masks",
    "exclude_keys",
    "include_keys",
]


class DispatchKey(IntEnum):
    """What an op can be dispatched on; values are ``1 << priority``."""

    CPU = 1 << 0
    CUDA = 1 << 1
    NPU = 1 << 2
    PrivateUse1 = 1 << 3
    PrivateUse2 = 1 << 4
    PrivateUse3 = 1 << 5
    Meta = 1 << 6
    Pipeline = 1 << 7
    BackendSelect = 1 << 8
    Python = 1 << 9
    Functionalize = 1 << 10
    ADInplaceOrView = 1 << 11
    AutogradOther = 1 << 12
    AutogradCPU = 1 << 13
    AutogradCUDA = 1 << 14
    AutogradNPU = 1 << 15
    AutogradPrivateUse1 = 1 << 16
    AutogradPrivateUse2 = 1 << 17
    AutogradPrivateUse3 = 1 << 18
    AutogradMeta = 1 << 19
    AutocastCPU = 1 << 20
    AutocastNPU = 1 << 21
    AutocastCUDA = 1 << 22
    AutocastPrivateUse1 = 1 << 23
    AutocastPrivateUse2 = 1 << 24
    AutocastPrivateUse3 = 1 << 25
    PythonDispatcher = 1 << 26
    # aliases: groups at registration, never the key a kernel is looked up under in the end
    Autograd = 1 << 27
    CompositeImplicitAutograd = 1 << 28
    CompositeExplicitAutograd = 1 << 29
    CompositeExplicitAutogradNonFunctional = 1 << 30

    def __str__(self) -> str:
        return self.name


DISPATCH_KEY_PRIORITY: Final[tuple[DispatchKey, ...]] = tuple(reversed(DispatchKey))

BACKEND_KEYS: Final = (
    DispatchKey.CPU,
    DispatchKey.CUDA,
    DispatchKey.NPU,
    DispatchKey.PrivateUse1,
    DispatchKey.PrivateUse2,
    DispatchKey.PrivateUse3,
    DispatchKey.Meta,
)
PRIVATE_USE_KEYS: Final = (
    DispatchKey.PrivateUse1,
    DispatchKey.PrivateUse2,
    DispatchKey.PrivateUse3,
)
AUTOGRAD_OF: Final[dict[DispatchKey, DispatchKey]] = {
    k: DispatchKey[f"Autograd{k.name}"] for k in BACKEND_KEYS
}
ALIAS_KEYS: Final = tuple(k for k in DispatchKey if k >= DispatchKey.Autograd)


def mask_of(keys: Iterable[int]) -> int:
    """Union of keys as an int."""
    out = 0
    for k in keys:
        out |= k
    return int(out)


BACKENDS: Final = mask_of(BACKEND_KEYS)
PRIVATE_USE: Final = mask_of(PRIVATE_USE_KEYS)
AUTOGRAD: Final = mask_of(AUTOGRAD_OF.values()) | DispatchKey.AutogradOther | DispatchKey.Autograd
ADINPLACE: Final = DispatchKey.ADInplaceOrView
ALIASES: Final = mask_of(ALIAS_KEYS)
COMPOSITES: Final = ALIASES & ~DispatchKey.Autograd


def parse_key(key: DispatchKey | int | str) -> DispatchKey:
    """A dispatch key from itself, its value or its exact name.

    Raises:
        RuntimeError: if there is no such key.
    """
    if isinstance(key, DispatchKey):
        return key
    try:
        return DispatchKey[key] if isinstance(key, str) else DispatchKey(key)
    except (KeyError, ValueError):
        raise RuntimeError(f"could not parse dispatch key: {key}") from None


def as_mask(keys: DispatchKeySet | DispatchKey | int | Iterable[int]) -> int:
    """A mask from a key set, a key, an int mask or several keys."""
    if isinstance(keys, DispatchKeySet):
        return keys.mask
    if isinstance(keys, int):
        return int(keys)
    return mask_of(keys)


def expand_aliases(mask: int) -> int:
    """Replace alias bits by the runtime keys they stand for in this mask.

    ``Autograd`` becomes the Autograd keys of the mask's backends (AutogradOther without a
    backend); Composite keys name no place of their own and are dropped.
    """
    if mask & DispatchKey.Autograd:
        backends = [b for b in BACKEND_KEYS if mask & b]
        mask |= mask_of(AUTOGRAD_OF[b] for b in backends) or int(DispatchKey.AutogradOther)
    return mask & ~ALIASES


class DispatchKeySet:
    """An immutable set of dispatch keys around an int mask.

    Iteration, `iter_keys` and `repr` go from the highest priority to the lowest.
    """

    __slots__ = ("mask",)
    mask: int

    def __init__(self, keys: DispatchKeySet | DispatchKey | int | Iterable[int] = 0) -> None:
        object.__setattr__(self, "mask", as_mask(keys))

    @classmethod
    def from_mask(cls, mask: int) -> DispatchKeySet:
        """The set whose bits are those of ``mask``."""
        return cls(int(mask))

    @classmethod
    def from_tensors(
        cls, tensors: Iterable[Any], *, grad_enabled: bool = False, pipeline_enabled: bool = False
    ) -> DispatchKeySet:
        """The keys a call on these tensors starts from.

        Args:
            tensors: tensors; other values are ignored.
            grad_enabled: add the Autograd keys if one of them requires grad.
            pipeline_enabled: add the Pipeline key.
        """
        mask = 0
        requires_grad = False
        for t in tensors:
            keys = getattr(t, "_keys", 0)
            mask |= keys & BACKENDS
            requires_grad = requires_grad or bool(keys & AUTOGRAD)
        if grad_enabled and requires_grad:
            mask |= DispatchKey.Autograd | mask_of(AUTOGRAD_OF[b] for b in BACKEND_KEYS if mask & b)
        if pipeline_enabled:
            mask |= DispatchKey.Pipeline
        return cls(mask)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("DispatchKeySet is immutable")

    def has(self, key: DispatchKey | int) -> bool:
        """Whether ``key`` is in the set."""
        return bool(self.mask & key)

    __contains__ = has

    def add(self, key: DispatchKey | int) -> DispatchKeySet:
        """The set with ``key`` added."""
        return DispatchKeySet(self.mask | int(key))

    def remove(self, key: DispatchKey | int) -> DispatchKeySet:
        """The set with ``key`` removed."""
        return DispatchKeySet(self.mask & ~int(key))

    def without(self, keys: DispatchKeySet | DispatchKey | int | Iterable[int]) -> DispatchKeySet:
        """The set without any of ``keys``."""
        return DispatchKeySet(self.mask & ~as_mask(keys))

    def highest(self) -> DispatchKey | None:
        """The key of highest priority, or None for the empty set."""
        return DispatchKey(1 << (self.mask.bit_length() - 1)) if self.mask else None

    def iter_keys(self) -> Iterator[DispatchKey]:
        """The keys, highest priority first."""
        mask = self.mask
        while mask:
            bit = 1 << (mask.bit_length() - 1)
            yield DispatchKey(bit)
            mask ^= bit

    __iter__ = iter_keys

    def __or__(self, other: DispatchKeySet | DispatchKey | int) -> DispatchKeySet:
        return DispatchKeySet(self.mask | as_mask(other))

    __ror__ = __or__

    def __sub__(self, other: DispatchKeySet | DispatchKey | int) -> DispatchKeySet:
        return DispatchKeySet(self.mask & ~as_mask(other))

    def __and__(self, other: DispatchKeySet | DispatchKey | int) -> DispatchKeySet:
        return DispatchKeySet(self.mask & as_mask(other))

    def __eq__(self, other: object) -> bool:
        return self.mask == other.mask if isinstance(other, DispatchKeySet) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.mask)

    def __bool__(self) -> bool:
        return self.mask != 0

    def __len__(self) -> int:
        return self.mask.bit_count()

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(k.name for k in self.iter_keys())})"


# ---- masks of the thread -----------------------------------------------------------------------


class ThreadMasks(threading.local):
    """The masks of one thread; a new thread starts with the defaults.

    Attributes:
        include: keys added to every call.
        keep: complement of the excluded keys; exclusion wins over inclusion.
    """

    include = 0
    keep = -1


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
    previous = set_masks(MASKS.include, MASKS.keep & ~unwanted)
    try:
        yield
    finally:
        set_masks(*previous)
