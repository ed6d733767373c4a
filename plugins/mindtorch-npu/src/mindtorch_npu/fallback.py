"""What NPUs leave to the CPU, and whether that is allowed.

`MINDTORCH_NPU_FALLBACK` decides, each time an op is left to the CPU: ``warn`` (the default) warns once
per op, ``silent`` does not, ``error`` refuses. The copies to the CPU wait for the device.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Final

from mindtorch_core.backend import tensors_in, warn_user
from mindtorch_core.dispatch.keys import ACTIVE, ADINPLACE, AUTOGRAD, MASKS, DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.library import cpu_fallback

__all__ = ["MODES", "VARIABLE", "fallback", "mode", "otherwise"]

VARIABLE: Final = "MINDTORCH_NPU_FALLBACK"
MODES: Final = ("warn", "error", "silent")

# Keys that an op which a kernel calls must not meet: its caller has seen them to it already.
_HIDDEN: Final = int(AUTOGRAD | ADINPLACE | DispatchKey.Pipeline | DispatchKey.Python)
# Ops whose parts would each go to the CPU where the matrix units do not know the dtype: they go there
# whole.
_WHOLE: Final = frozenset({"aten::convolution", "aten::_convolution_weight"})
_MULTIPLIED: Final = ("float32", "float16", "bfloat16")
_told: Final[set[str]] = set()
_lock: Final = threading.RLock()


def mode() -> str:
    """What the environment says of falling back to the CPU.

    Raises:
        RuntimeError: if it says something unknown.
    """
    asked = os.environ.get(VARIABLE, "").strip().lower() or "warn"
    if asked not in MODES:
        raise RuntimeError(f"{VARIABLE} must be one of {', '.join(MODES)}, but is {asked!r}")
    return asked


def fallback(name: str, *args: Any, **kwargs: Any) -> Any:
    """Compute an op on the CPU, with copies there and back, if the environment allows it.

    Args:
        name: qualified name of the op.
        *args: its arguments.
        **kwargs: its keyword arguments.

    Raises:
        NotImplementedError: if it is not allowed, or the CPU cannot compute the op either.
        RuntimeError: if the environment says something unknown.

    Warns:
        UserWarning: once per op, unless the environment says otherwise.
    """
    chosen = mode()
    if chosen == "error":
        raise NotImplementedError(
            f"{name} of {_operands(args, kwargs)} is not computed on NPUs.\n"
            f"  why: {VARIABLE}=error, and CANN has no operator for it that takes these tensors.\n"
            f"  fix: convert them to another dtype, or move them to the CPU, or set {VARIABLE}=warn to "
            f"have it computed there."
        )
    if chosen == "warn" and _first_time(name):
        warn_user(
            f"{name} of {_operands(args, kwargs)} is computed on the CPU, because CANN has no operator "
            f"for it that takes these tensors; copies there and back wait for the device. Set {VARIABLE} "
            f"to 'silent' to hide this, or to 'error' to find such calls."
        )
    return below(cpu_fallback, name, *args, **kwargs)


def otherwise(name: str, *args: Any, **kwargs: Any) -> Any:
    """Compute an op without an operator of its own: of others, or on the CPU."""
    definition = registry.entry(name).definition
    whole = name in _WHOLE and args[0].raw_dtype.name not in _MULTIPLIED
    if definition is not None and definition.decomposition is not None and not whole:
        return below(definition.decomposition, *args, **kwargs)
    return fallback(registry.entry(name).name, *args, **kwargs)


def below(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function whose ops are neither recorded nor deferred."""
    kept = MASKS.include, MASKS.keep
    default = kept == (0, -1)
    try:
        # Written out: an interrupt comes where functions are called, not between these lines.
        if default:
            ACTIVE.append(1)
        MASKS.include, MASKS.keep = kept[0] & ~_HIDDEN, kept[1] & ~_HIDDEN
        return fn(*args, **kwargs)
    finally:
        MASKS.include, MASKS.keep = kept
        if default:
            ACTIVE.pop()


def _first_time(name: str) -> bool:
    with _lock:
        if name in _told:
            return False
        _told.add(name)
        return True


def _operands(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The dtypes and shapes of a call's tensors."""
    shown = [
        f"{t.dtype}{list(t.shape)}" for t in tensors_in((*args, *kwargs.values())) if t is not None
    ]
    return ", ".join(shown) or "no tensors"
