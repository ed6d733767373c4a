"""`autocast`, and the decorators for custom autograd functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from threading import get_ident
from types import TracebackType
from typing import Any, TypeVar

from ..dispatch.keys import MASKS, set_masks
from ..tensors.tensor import Tensor
from ..values.circles import ending
from ..values.devices import type_meant
from ..values.dtypes import FLOATING, dtype, float64
from ..values.interrupts import from_entry
from ..values.user_warnings import warn_user
from . import state
from .state import STATE, is_autocast_available

__all__ = [
    "autocast",
    "autocast_decorator",
    "custom_bwd",
    "custom_fwd",
    "is_autocast_available",
]

F = TypeVar("F", bound=Callable[..., Any])


class autocast:
    """Run ops in lower precision where that is safe: ``with torch.autocast("cpu"):``.

    Inside, products of matrices cast their arguments to the lower dtype, ops that need a wide range
    cast them to float32, and all others compute in the dtypes they are given. Also a decorator. The
    state belongs to the thread, blocks nest, and a block with ``enabled=False`` switches off.

    Args:
        device_type: the device type whose ops are meant, such as ``cpu``.
        dtype: the lower dtype; by default `get_autocast_dtype(device_type)`.
        enabled: False makes the block one without autocast.
        cache_enabled: whether the cast of a weight is kept until the outermost block ends; by
            default as outside.

    Raises:
        ValueError: if ``device_type`` is not a string.
        RuntimeError: if there is no such device type, or none with autocast.

    Example:
        >>> with torch.autocast("cpu"):
        ...     y = torch.ones(2, 2) @ torch.ones(2, 2)
        >>> y.dtype
        torch.bfloat16
    """

    def __init__(
        self,
        device_type: str,
        dtype: dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        _check_device_type(device_type)
        found = state.checked_device("autocast", device_type)
        state.check_bool("autocast(): argument 'enabled'", enabled)
        if cache_enabled is not None:
            state.check_bool("autocast(): argument 'cache_enabled'", cache_enabled)
        self.device = device_type
        self.fast_dtype = state.get_autocast_dtype(device_type) if dtype is None else dtype
        self._key = found.key
        self._cache_enabled = STATE.cache_enabled if cache_enabled is None else cache_enabled
        problem = _problem(found, self.fast_dtype) if enabled else None
        if problem is not None:
            warn_user(problem)
        self._enabled = enabled and problem is None
        # By thread: an instance may be entered several times, and as a decorator from anywhere.
        self._before: dict[int, list[tuple[int, int, Callable[[], None]]]] = {}

    def __enter__(self) -> autocast:
        key = self._key
        before = MASKS.include & key, MASKS.keep & key, state.autocast_settings()
        entered = self._before.setdefault(get_ident(), [])
        entered += (before,)
        try:
            state.switch(key, self._enabled)
            STATE.dtypes[key] = self.fast_dtype
            STATE.cache_enabled = self._cache_enabled
            state.autocast_increment_nesting()
        except BaseException:  # an interrupt
            self._leave()
            raise
        return self

    @from_entry
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._leave()
        except BaseException:  # an interrupt, before all was done
            self._leave()
            raise

    def _leave(self) -> None:
        """Make things as they were; may be called again if it was interrupted."""
        thread, key = get_ident(), self._key
        before = self._before[thread]
        included, kept, restore = before[-1]
        set_masks(MASKS.include & ~key | included, MASKS.keep & ~key | kept)
        restore()
        del before[-1]
        if not before:
            del self._before[thread]

    def __call__(self, func: F) -> F:
        """``func`` as a function whose calls are such blocks."""
        if not callable(func):
            raise TypeError(
                f"autocast(...) as a decorator needs a callable, but got {type(func).__name__}. As a "
                f"context manager it is used so: with torch.autocast(device_type): ..."
            )
        return autocast_decorator(self, func)


def autocast_decorator(autocast_instance: autocast, func: F) -> F:
    """``func`` with each call inside the given `autocast` block."""

    @functools.wraps(func)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        with autocast_instance:
            return func(*args, **kwargs)

    return decorated  # type: ignore[return-value]


def _check_device_type(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def _problem(found: state.AutocastDevice, wanted: Any) -> str | None:
    """Why autocast cannot be switched on, to be said in a warning."""
    name = found.type.upper()
    if found.row is None:
        return (
            f"{name} is not available: no backend for device type '{found.type}' is installed. "
            f"Autocast is disabled."
        )
    supported = found.row.runtime.autocast_dtypes
    if wanted in supported:
        return None
    return (
        f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n"
        f"It is {wanted}, and supported are {', '.join(map(str, supported))}."
    )


# ---- custom autograd functions -----------------------------------------------------------------


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: dtype | None = None
) -> Callable[..., Any]:
    """Decorator for ``forward`` of an autograd function, for use inside `autocast` blocks.

    Args:
        fwd: the ``forward``; left out in ``@custom_fwd(device_type="cpu")``.
        device_type: the device type that the function is meant for.
        cast_inputs: inside an `autocast` block, cast floating-point tensors of the device to this
            dtype and run ``fwd`` with autocast off; None leaves inputs and autocast as they are.

    Raises:
        ValueError: if ``device_type`` is not a string.
    """
    _check_device_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    function = fwd

    @functools.wraps(function)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        on = state.is_autocast_enabled(device_type)
        forward = args[0]  # the context, which `custom_bwd` reads again
        forward._autocast_state = on and cast_inputs is None, state.get_autocast_dtype(device_type)
        if not on or cast_inputs is None:
            return function(*args, **kwargs)
        with autocast(device_type, enabled=False):
            cast_args = cast_nested(args, device_type, cast_inputs)
            return function(*cast_args, **cast_nested(kwargs, device_type, cast_inputs))

    return decorated


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Callable[..., Any]:
    """Decorator for ``backward`` of an autograd function: autocast as it was in ``forward``.

    Args:
        bwd: the ``backward``; left out in ``@custom_bwd(device_type="cpu")``.
        device_type: as given to `custom_fwd`.

    Raises:
        ValueError: if ``device_type`` is not a string.
    """
    _check_device_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)
    function = bwd

    @functools.wraps(function)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        on, chosen = args[0]._autocast_state
        with autocast(device_type, chosen, enabled=on):
            return function(*args, **kwargs)

    return decorated


@ending()
def cast_nested(value: Any, device_type: str, to: dtype) -> Any:
    """Floating-point tensors of a device, but not float64 ones, in another dtype.

    Looks into lists, tuples, mappings and what else gives values one by one; the rest stays as it is.
    """
    if isinstance(value, Tensor):
        narrow = value._dtype.category == FLOATING and value._dtype is not float64
        return value.to(to) if narrow and value._device.type == type_meant(device_type) else value
    if isinstance(value, Mapping):
        return {k: cast_nested(v, device_type, to) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(cast_nested(v, device_type, to) for v in value)
    whole = isinstance(value, str | bytes) or hasattr(value, "__array_interface__")
    if isinstance(value, Iterable) and not whole:
        return (cast_nested(v, device_type, to) for v in value)
    return value


_cast = cast_nested  # PyTorch's name for it, which transformers asks for
