"""``__torch_function__``: calls that go to the classes of their arguments, or to modes, instead.

A tensor whose class overrides functions carries the key PythonDispatcher while that is enabled, and
an open function mode puts PreDispatch into the thread's masks. No kernel is ever kept for a mask
with one of these bits, so that a call finds out where it looks its kernel up, and a call without
them pays nothing.

The rules are PyTorch's (``torch/csrc/utils/python_arg_parser.cpp`` and ``torch/overrides.py`` of 2.13).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from ..values.interrupts import leaving
from .entry import Kernel, OpEntry
from .key_order import FUNCTION_CLASSES as SUBCLASS
from .key_order import FUNCTION_MODES as MODE
from .key_order import OVERRIDDEN, DispatchKey
from .masks import MASKS, set_masks, with_masks
from .registry import registry

__all__ = [
    "DISABLED",
    "IN_USE",
    "MODE",
    "MODES",
    "PLAIN",
    "SUBCLASS",
    "TENSOR",
    "WHEN_USED",
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "NoAnswer",
    "active",
    "arm",
    "beneath",
    "handle",
    "install",
    "keys_of_foreign",
    "of_pytorch",
    "overloaded",
    "overrides",
    "pop_mode",
    "push_mode",
    "undisturbed",
]

# Called once, when there is somebody to override functions; from then on the second is not empty.
WHEN_USED: Final[list[Callable[[], None]]] = []
IN_USE: Final[list[bool]] = []

TENSOR: Final[list[type]] = []  # the class of plain tensors, once there is one
# Types whose instances are known to override nothing: no attribute need be looked for.
PLAIN: Final[set[type]] = {
    type(None), bool, int, float, complex, str, bytes, list, tuple, dict, set, slice, type, range,
}  # fmt: skip


class _Disabled:
    """What a class has as ``__torch_function__`` to take no part: the call runs as it is."""

    __name__ = "_disabled_torch_function_impl"

    def __call__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        return beneath(func, args, kwargs)

    def __repr__(self) -> str:
        return "<built-in function _disabled_torch_function_impl>"


DISABLED: Final = _Disabled()


class _Modes(threading.local):
    """The function modes that are open in one thread, innermost last.

    Attributes:
        handed: the calls that these modes are asked for now, by function.
    """

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.handed: dict[Any, tuple[tuple[Any, ...], dict[str, Any]]] = {}


MODES: Final = _Modes()


def overrides(value: Any) -> bool:
    """Whether an object has a ``__torch_function__`` that is asked."""
    kind = type(value)
    if kind in PLAIN or isinstance(value, type):
        return False
    found = getattr(value, "__torch_function__", None)
    return found is not None and found is not DISABLED and not of_pytorch(kind)


def of_pytorch(kind: type) -> bool:
    """Whether a class is PyTorch's tensor, beside which this library was imported: its handler calls us."""
    others = getattr(sys.modules.get("torch"), "Tensor", None)
    return isinstance(others, type) and others not in TENSOR and issubclass(kind, others)


def overloaded(values: Iterable[Any]) -> list[Any]:
    """The first argument of each overriding class, subclasses before the classes they derive from.

    Args:
        values: the arguments; elements of lists and tuples are arguments too.
    """
    found: list[Any] = []
    if not MASKS.keep & SUBCLASS:
        return found
    for value in _each(values):
        if overrides(value) and type(value) not in map(type, found):
            at = (i for i, other in enumerate(found) if issubclass(type(value), type(other)))
            found.insert(next(at, len(found)), value)
    return found


def _each(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if type(value) in (list, tuple):
            yield from value
        else:
            yield value


def active(values: Iterable[Any]) -> bool:
    """Whether a call with these arguments goes elsewhere first: a mode is open, or one overrides."""
    masks = MASKS
    if masks.include & masks.keep & MODE:
        return True
    if not masks.keep & SUBCLASS:
        return False
    plain = PLAIN
    for value in values:  # without a call for what is common
        kind = type(value)
        if kind is list or kind is tuple:
            if any(map(overrides, value)):
                return True
        elif kind not in plain and overrides(value):
            return True
    return False


# ---- the call -----------------------------------------------------------------------------------


def handle(
    func: Callable[..., Any],
    relevant: Iterable[Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    written_in_python: bool = False,
) -> Any:
    """Hand a call to the innermost mode, then to the classes of its arguments.

    Args:
        func: what the handlers are told is called.
        relevant: the arguments whose classes are asked.
        args: of the call.
        kwargs: of the call.
        written_in_python: whether PyTorch's function is: the handlers of such a one are given
            keyword arguments even where there are none.

    Raises:
        TypeError: if all of them return NotImplemented.
    """
    asked = overloaded(relevant)
    types = tuple(map(type, asked))
    rest = (args, kwargs) if kwargs or written_in_python else (args,)
    mode = None
    if MODES.stack and MASKS.include & MASKS.keep & MODE:
        mode = MODES.stack[-1]
        result = _in_mode(mode, func, types, rest)
        if result is not NotImplemented:
            return result
    elif not asked:  # the key was included by hand
        return undisturbed(func, *args, **kwargs)
    for each in asked:
        result = each.__torch_function__(func, types, *rest)
        if result is not NotImplemented:
            return result
    raise NoAnswer(
        f"Multiple dispatch failed for '{_shown(func)}'; all "
        f"__torch_function__ handlers returned NotImplemented (no implementation found for it):\n"
        + (f"\n  - mode object {mode}" if mode is not None else "")
        + "".join(f"\n  - {each}" for each in types)
    )


def _shown(func: Any) -> str:
    """A function by the path that users call it by."""
    place = str(getattr(func, "__module__", "")).replace("mindtorch_core", "torch", 1)
    place = place if place.startswith("torch.") and ".operators." not in place else "torch"
    return f"{place}.{getattr(func, '__qualname__', func)}"


class NoAnswer(TypeError):
    """All who were asked returned NotImplemented."""


def _in_mode(mode: Any, func: Any, types: tuple[type, ...], rest: tuple[Any, ...]) -> Any:
    """What a mode answers; while it runs, those around it are open."""
    stack, handed = MODES.stack, MODES.handed
    kept, before = stack[:], handed.get(func)
    include = MASKS.include if len(kept) > 1 else MASKS.include & ~MODE
    try:  # what is closed here is opened again, whenever an interrupt comes
        del stack[-1]
        handed[func] = rest[0], rest[1] if len(rest) > 1 else {}
        return with_masks(include, MASKS.keep, mode.__torch_function__, func, types, *rest)
    finally:
        stack[:] = kept
        if before is None:
            handed.pop(func, None)
        else:
            handed[func] = before


def push_mode(mode: Any) -> None:
    """Open a mode in this thread."""
    arm()
    stack = MODES.stack
    if not stack:
        set_masks(MASKS.include | MODE, MASKS.keep)
    stack += (mode,)


def pop_mode() -> None:
    """Close the innermost mode of this thread; may be called again if it was interrupted."""
    stack = MODES.stack
    if len(stack) == 1:
        set_masks(MASKS.include & ~MODE, MASKS.keep)
    del stack[-1]


def beneath(func: Callable[..., Any], args: Iterable[Any], kwargs: dict[str, Any] | None) -> Any:
    """Call a function with the classes of tensors out of force; modes stay in force."""
    masks = MASKS
    return with_masks(masks.include, masks.keep & ~SUBCLASS, func, *args, **(kwargs or {}))


def undisturbed(func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a function with classes and modes out of force."""
    masks = MASKS
    return with_masks(masks.include, masks.keep & ~OVERRIDDEN, func, *args, **kwargs)


class _Disabling:
    """A context in which calls are not handed to handlers."""

    _keys = 0

    def __init__(self) -> None:
        self._previous: list[tuple[int, int]] = []

    def __enter__(self) -> None:
        self._previous += (set_masks(MASKS.include, MASKS.keep & ~self._keys),)

    def _leave(self) -> None:
        before = self._previous[-1][1]
        set_masks(MASKS.include, (MASKS.keep & ~self._keys) | (before & self._keys))
        del self._previous[-1]

    __exit__ = leaving(_leave)


class DisableTorchFunctionSubclass(_Disabling):
    """A context in which the classes of tensors are not asked; modes are."""

    _keys = SUBCLASS


class DisableTorchFunction(_Disabling):
    """A context in which neither the classes of tensors nor modes are asked."""

    _keys = OVERRIDDEN


# ---- what generated functions call --------------------------------------------------------------


def keys_of_foreign(value: Any) -> int:
    """The keys of an argument that is no tensor: 0 if it does not override functions."""
    values = value if isinstance(value, list | tuple) else (value,)
    if not (MASKS.keep & SUBCLASS and any(map(overrides, values))):
        return 0
    arm()
    return SUBCLASS


def arm() -> None:
    """Say that there is somebody to override functions."""
    if not IN_USE:
        IN_USE.append(True)
        for each in WHEN_USED:
            each()


def install() -> None:
    """Have `explain` show the keys; a call by name has nobody to hand it to."""

    def passed_on(
        entry: OpEntry, below_mask: int, resolve: Callable[[int], Kernel]
    ) -> Kernel | None:
        below = resolve(below_mask)

        def hand_on(*args: Any, **kwargs: Any) -> Any:
            return below(*args, **kwargs)

        return hand_on

    for key in (DispatchKey(SUBCLASS), DispatchKey(MODE)):
        registry.wrappers[key] = passed_on
