"""Sets of dispatch keys around an int mask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .key_order import AUTOGRAD, BACKEND_BITS, DispatchKey, expand_aliases, mask_of

__all__ = ["DispatchKeySet", "as_mask"]


def as_mask(keys: DispatchKeySet | DispatchKey | int | Iterable[int]) -> int:
    """A mask from a key set, a key, an int mask or several keys."""
    if isinstance(keys, DispatchKeySet):
        return keys.mask
    if isinstance(keys, int):
        return int(keys)
    return mask_of(keys)


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
            mask |= keys & BACKEND_BITS
            requires_grad = requires_grad or bool(keys & AUTOGRAD)
        if grad_enabled and requires_grad:
            mask |= DispatchKey.Autograd | expand_aliases(mask | DispatchKey.Autograd)
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

    @classmethod
    def full_after(cls, key: DispatchKey | int) -> DispatchKeySet:
        """Every runtime key of lower priority than ``key``: what a kernel leaves below itself."""
        return cls(int(key) - 1)

    def highest(self) -> DispatchKey | None:
        """The key of highest priority, or None for the empty set."""
        return DispatchKey(1 << (self.mask.bit_length() - 1)) if self.mask else None

    highestPriorityTypeId = highest

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
