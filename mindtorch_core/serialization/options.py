"""Settings of reading and writing files, each thread's own."""

from __future__ import annotations

import mmap
import threading
from enum import Enum
from typing import Final

from ..values.interrupts import leaving

__all__ = [
    "OPTIONS",
    "LoadEndianness",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
]


class LoadEndianness(Enum):
    """The order of bytes that files are taken to have which do not say it."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class _Options(threading.local):
    """What is set in this thread.

    Attributes:
        endianness: of files that do not say it; None for this machine's.
        mmap_flags: how files are mapped.
        crc32: whether sums that find damage are written.
        skips: whether bytes of storages are left out.
    """

    endianness: LoadEndianness | None = None
    mmap_flags: int = mmap.MAP_PRIVATE
    crc32: bool = True
    skips: bool = False


OPTIONS: Final = _Options()


def get_default_load_endianness() -> LoadEndianness | None:
    """The order of bytes of files that do not say it; None means this machine's."""
    return OPTIONS.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Set the order of bytes that files are taken to have which do not say it.

    Raises:
        TypeError: for what is neither a `LoadEndianness` nor None.
    """
    if not (endianness is None or isinstance(endianness, LoadEndianness)):
        raise TypeError(
            f"Invalid argument type in function set_default_load_endianness: {endianness!r}"
        )
    OPTIONS.endianness = endianness


def get_crc32_options() -> bool:
    """Whether ``torch.save`` writes sums by which damage is found."""
    return OPTIONS.crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Set what `get_crc32_options` says; sums cost little here and are written in any case."""
    OPTIONS.crc32 = bool(compute_crc32)


def get_default_mmap_options() -> int | None:
    """How ``torch.load(mmap=True)`` maps files: ``mmap.MAP_PRIVATE`` unless told otherwise."""
    return OPTIONS.mmap_flags


class set_default_mmap_options:
    """Set how ``torch.load(mmap=True)`` maps files, for good or, as a context, for a while.

    Args:
        flags: ``mmap.MAP_PRIVATE``, so that writes to tensors stay in memory, or ``mmap.MAP_SHARED``,
            so that they change the file.

    Raises:
        ValueError: for anything else.
    """

    def __init__(self, flags: int) -> None:
        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ValueError(
                f"Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or "
                f"mmap.MAP_SHARED, but got {flags}"
            )
        self.prev = OPTIONS.mmap_flags
        OPTIONS.mmap_flags = flags

    def __enter__(self) -> None:
        """It was set when this was made."""

    def _leave(self) -> None:
        OPTIONS.mmap_flags = self.prev

    __exit__ = leaving(_leave)


class skip_data:
    """A context in which files are saved and loaded without the bytes of storages.

    What is saved has room for them; what is loaded has memory with undefined elements.

    Args:
        materialize_fake_tensors: accepted for compatibility; there are no fake tensors.
    """

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self) -> None:
        self._before = OPTIONS.skips
        OPTIONS.skips = True

    def _leave(self) -> None:
        OPTIONS.skips = self._before

    __exit__ = leaving(_leave)
