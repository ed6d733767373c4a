"""Where arrays lie in memory."""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

__all__ = ["KNOWN", "address", "arguments"]


def _known() -> bool:
    probe = np.zeros((3, 5), np.float32)[:, ::2]
    start: int = probe.__array_interface__["data"][0]
    if object.__basicsize__ != 16 or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    words = (ctypes.c_int64 * 8).from_address(id(probe))
    if words[2] != start:
        return False
    shape = tuple((ctypes.c_int64 * 2).from_address(words[4]))
    steps = tuple((ctypes.c_int64 * 2).from_address(words[5]))
    seen = (words[3] & 0xFFFFFFFF, shape, steps, words[7])
    return seen == (2, probe.shape, probe.strides, id(probe.dtype))


# Whether objects and arrays lie as CPython and NumPy lay them down where this was written.
KNOWN: Final = _known()
_word_at: Final = ctypes.c_int64.from_address


def address(array: Any) -> int:
    """Address of an array's first element; NumPy's own answer takes ten times as long."""
    if KNOWN:
        return _word_at(id(array) + 16).value
    start: int = array.__array_interface__["data"][0]
    return start


def arguments(*values: Any) -> bytes:
    """What a kernel is given, a word each: arrays by their addresses, and numbers."""
    words = [address(v) if v.__class__ is np.ndarray else v for v in values]
    return _packing(len(words))(*words)


@functools.cache
def _packing(count: int) -> Callable[..., bytes]:
    """What makes bytes of so many words."""
    return struct.Struct(f"{count}q").pack
