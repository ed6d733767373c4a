"""Kernels for convolutions and attention: compiled when they are first asked for, and waited for.

They add up in another order than NumPy's products do. So that calls alike give the same bits, in a
pipeline or not, at the first call or later, what decides between the two is only the call's geometry and
whether this process has a compiler: no kernel appears behind the program's back. One that does not compute
what NumPy does, see `direct_checking`, is never used.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import threading
from collections.abc import Callable
from typing import Any, Final

from mindtorch_core.backend import fork_safe

from . import compiler, store
from .attending import Attention, AttentionGradient, attention_gradient_text, attention_text
from .direct_checking import agrees
from .kernels import KERNELS
from .planes import Plane, PlaneGradient, plane_gradient_text, plane_text
from .sliding import Gradient, Product, Turn, gradient_text, product_text, turn_text

__all__ = ["Direct", "available", "served"]

Kind = Product | Gradient | Turn | Plane | PlaneGradient | Attention | AttentionGradient

_TEXTS: Final[dict[type, Callable[[Any], str]]] = {
    Product: product_text,
    Gradient: gradient_text,
    Turn: turn_text,
    Plane: plane_text,
    PlaneGradient: plane_gradient_text,
    Attention: attention_text,
    AttentionGradient: attention_gradient_text,
}
_CALL: Final = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p
)


class Direct:
    """A compiled kernel, see `sharing.Runnable`."""

    __slots__ = ("_code", "address", "call")

    def __init__(self, code: compiler.Loaded) -> None:
        self._code = code
        self.address = code.address
        self.call: Any = _CALL(code.address)


# By kind, whose type counts: named tuples of different types may be equal.
_MADE: dict[tuple[type, Kind], Direct | None] = {}
_LOCK: Final = fork_safe(threading.RLock())


@functools.cache
def _compiler() -> bool:
    return compiler.ready() is None


def available() -> bool:
    """Whether this process has a compiler and may use it."""
    return KERNELS.mode != "off" and _compiler()


def served(kind: Kind) -> Direct | None:
    """The kernel, or None where there is none: then there never is one in this process."""
    key = type(kind), kind
    found = _MADE.get(key, False)
    if found is not False:
        return found  # type: ignore[return-value]
    with _LOCK:
        if key not in _MADE:
            _MADE[key] = _made(kind)
        return _MADE[key]


def _made(kind: Kind) -> Direct | None:
    try:
        name = f"{compiler.fingerprint()} {kind!r}"
        key = hashlib.sha256(name.encode()).hexdigest()
        code = store.kept(key, lambda: compiler.compiled(_TEXTS[type(kind)](kind)))
        made = Direct(compiler.loaded(code))
        size = 8 if kind.dtype == "f8" else 4
        if agrees(kind, made.call, compiler.vector_bytes() // size):
            return made
        KERNELS.failures[f"{kind} does not agree with NumPy"] += 1
        return None
    except Exception as error:  # noqa: BLE001 (LLVM may raise anything; NumPy serves on)
        KERNELS.failures[f"{type(error).__name__}: {error}"] += 1
        return None
