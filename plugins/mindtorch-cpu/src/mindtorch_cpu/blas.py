"""How many threads NumPy's BLAS uses: by size, never more than it is set to, and only during a call.

Waking threads costs a small product more than they save, and those of a product in one of our threads
fight with the others. OpenBLAS counts threads for the whole process. What is changed is set back when the
last call that wanted it is done, also where one is interrupted: CPython looks for interrupts after a call,
so what a ``finally`` calls first is always called.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_core.backend import get_num_threads

from .workers import share_out

__all__ = ["TINY", "alone", "is_openblas", "multiplied", "over_batches"]

# Multiplications that OpenBLAS does in one thread by itself, and those from which several pay.
TINY: Final = 1 << 18
_FEW: Final = 1 << 24
# Those of several products from which these are shared out, and what a thread is given at least.
_TOGETHER: Final = 1 << 20


class _Threads(NamedTuple):
    """The library's own functions; they keep the interpreter's lock."""

    get: Callable[[], int]
    set: Callable[[int], None]


def _libraries() -> Iterable[str]:
    """Files that may be the BLAS that NumPy has loaded, the likeliest first."""
    found: list[str] = []
    with contextlib.suppress(OSError):
        lines = Path("/proc/self/maps").read_text("utf-8", "replace").splitlines()
        found = [line.split(maxsplit=5)[-1] for line in lines if "openblas" in line]
    home = Path(np.__file__).parent
    for folder in (home / ".dylibs", home.parent / "numpy.libs"):
        with contextlib.suppress(OSError):
            found += [str(path) for path in folder.iterdir() if "openblas" in path.name]
    return sorted(dict.fromkeys(found), key=lambda path: "numpy" not in path)


@functools.cache
def _threads() -> _Threads | None:
    """Of NumPy's OpenBLAS; None where it has another BLAS."""
    for path in _libraries():
        try:
            library = ctypes.PyDLL(path)
        except OSError:
            continue
        for name, suffix in (("scipy_openblas", "64_"), ("openblas", "64_"), ("scipy_openblas", ""),
                             ("openblas", "")):  # fmt: skip
            ask = getattr(library, f"{name}_get_num_threads{suffix}", None)
            change = getattr(library, f"{name}_set_num_threads{suffix}", None)
            if ask is not None and change is not None:
                ask.argtypes, ask.restype = [], ctypes.c_int
                change.argtypes, change.restype = [ctypes.c_int], None
                return _Threads(ask, change)
    return None


def is_openblas() -> bool:
    """Whether NumPy's BLAS is known to be OpenBLAS."""
    return _threads() is not None


# Calls that have lowered the number, and what it was before the first.
_ACTIVE: Final[set[object]] = set()
_BEFORE: Final = [0]


def _within(count: int, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a function while BLAS uses at most ``count`` threads."""
    threads = _threads()
    before = count if threads is None else threads.get()
    if threads is None or before <= count:
        return function(*args, **kwargs)
    token = object()
    try:
        if not _ACTIVE:
            _BEFORE[0] = before
        _ACTIVE.add(token)
        threads.set(count)
        return function(*args, **kwargs)
    finally:
        try:
            _ACTIVE.discard(token)
        finally:
            if not _ACTIVE:
                threads.set(_BEFORE[0])


def alone(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function whose products use one thread each, as it shares itself out or they are small."""
    return _within(1, function, args, kwargs)


def multiplied(work: int, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function that multiplies matrices.

    Args:
        work: multiplications.
        function: what to call, with its arguments.
        args: its arguments.
        kwargs: those with names.
    """
    if work <= TINY:
        return function(*args, **kwargs)
    return _within(1 if work < _FEW else get_num_threads(), function, args, kwargs)


def over_batches(work: Callable[[slice], Any], each: int, count: int) -> None:
    """Call a function with slices of a batch of products, in several threads where they are small.

    Args:
        work: multiplies the matrices of a slice.
        each: multiplications of one product.
        count: how many products there are.
    """
    if count < 2 or each * count < _TOGETHER or (each >= _FEW and count < 4):
        multiplied(each, work, slice(0, count))
        return
    step = max(-(-count // 16), _TOGETHER // (4 * each), 1)
    alone(share_out, lambda first: work(slice(first, first + step)), range(0, count, step))
