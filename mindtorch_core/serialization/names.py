"""The names that files use for types and functions, in the words of PyTorch's format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..values.devices import device
from ..values.dtypes import DTYPES, dtype

__all__ = ["STORAGE_NAMES", "UNTYPED", "StorageType", "is_key"]

UNTYPED: Final = "torch.storage UntypedStorage"

# Newer dtypes have no storage class: their tensors lie in untyped storages.
_WITHOUT: Final = frozenset({"uint16", "uint32", "uint64"})

STORAGE_NAMES: Final[dict[dtype, str]] = {
    d: f"torch {d.label}Storage" for name, d in DTYPES.items() if name not in _WITHOUT
}


@dataclass(frozen=True, slots=True)
class StorageType:
    """A storage class of PyTorch's: memory that is counted in elements of a dtype.

    Attributes:
        dtype: of its elements, None if it is counted in bytes.
    """

    dtype: dtype | None

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return 1 if self.dtype is None else self.dtype.itemsize


_KEYS: Final = (str, int, float, complex, bytes, type(None), dtype, device)
_LONGEST_KEY: Final = 1000


def is_key(value: Any) -> bool:
    """Whether a value may be a dict's key or a set's element.

    Tuples that hold themselves again and again take exponential time to hash, so the elements of
    nested ones are counted.
    """
    waiting, seen = [value], 0
    while waiting:
        part = waiting.pop()
        seen += 1
        if seen > _LONGEST_KEY:
            return False
        if isinstance(part, tuple | frozenset):
            waiting += list(part)[: _LONGEST_KEY + 1]
        elif not isinstance(part, _KEYS):
            return False
    return True
