"""Dispatch modes: see, change or replace every op that is called in a block.

A mode stands at the Python key, below autograd and autocast and above the backends, where PyTorch's
``TorchDispatchMode`` stands: compositions have been taken apart, the ops of a backward pass are
seen, and what a mode computes instead is recorded by autograd above it. While no mode is active the
key is in no mask, so a call costs nothing more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Self

from ..dispatch.choice import choose
from ..dispatch.entry import Kernel, OpEntry, Registration
from ..dispatch.keys import ALIASES, BACKEND_BITS, MASKS, DispatchKey, set_masks, with_masks
from ..dispatch.registry import registry
from ..opdefs.torch_ops import OpOverload, overload_of
from ..tensors.subclasses import ANY_DISPATCHES, dispatching
from ..values.interrupts import leaving, surely
from .shown_ops import WHOLE, shown

__all__ = [
    "DispatchMode",
    "active_modes",
    "install",
    "register_rule",
    "set_modes",
    "without_defaults",
    "without_modes",
]

_PYTHON: Final = int(DispatchKey.Python)
_ABOVE: Final = -(_PYTHON << 1) & ~ALIASES  # every runtime key above Python


class _Stack(threading.local):
    """The modes active in one thread, innermost last."""

    def __init__(self) -> None:
        self.modes: list[DispatchMode] = []


_STACK: Final = _Stack()
# Rules for pairs of an op and a class of modes, used instead of the mode's own handler.
_RULES: Final[dict[tuple[str, type], Callable[..., Any]]] = {}


class DispatchMode:
    """A context in which `__torch_dispatch__` is called for every op.

    Inside the handler the mode itself is off and modes around it are on, so it may call the op it
    was handed, or any other. Autograd, autocast and version counting have been dealt with above it.

    Example:
        >>> class Count(DispatchMode):
        ...     seen = 0
        ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        ...         self.seen += 1
        ...         return func(*args, **(kwargs or {}))
    """

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Handle one op.

        Args:
            func: the op, such as ``torch.ops.aten.mul.Tensor``.
            types: classes among the arguments with a handler of their own.
            args: positional arguments, without trailing ones that equal their default.
            kwargs: keyword arguments that differ from their defaults.

        Returns:
            What the call returns, or NotImplemented to leave the op to the mode around this one.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define __torch_dispatch__(self, func, types, args=(), "
            f"kwargs=None)"
        )

    def __enter__(self) -> Self:
        modes = _STACK.modes
        if not modes:
            set_masks(MASKS.include | _PYTHON, MASKS.keep)
        modes += (self,)  # no call: an interrupt finds both done, or nothing
        return self

    def _leave(self) -> None:
        modes = _STACK.modes
        if len(modes) == 1:
            set_masks(MASKS.include & ~_PYTHON, MASKS.keep)
        del modes[-1]

    __exit__ = leaving(_leave)


def active_modes() -> tuple[DispatchMode, ...]:
    """The modes active in this thread, outermost first."""
    return tuple(_STACK.modes)


def set_modes(modes: Iterable[DispatchMode]) -> None:
    """Make these the modes active in this thread again; the masks are not changed."""
    _STACK.modes[:] = modes


@contextmanager
def without_modes() -> Iterator[list[DispatchMode]]:
    """A context without this thread's modes, which it gives, innermost first; others may be entered in it.

    Classes with a handler of their own are asked as ever.
    """
    modes = [*_STACK.modes]
    previous = set_masks(MASKS.include & ~_PYTHON, MASKS.keep)
    try:
        set_modes(())
        yield modes[::-1]
    finally:
        set_modes(modes)
        surely(lambda: set_masks(*previous))


def register_rule(op: OpOverload | str, mode: Any, rule: Callable[..., Any]) -> Registration:
    """Use ``rule(mode, func, types, args, kwargs)`` for one op in place of a mode's own handler.

    Raises:
        TypeError: if ``mode`` is not a class of modes.
    """
    if not (isinstance(mode, type) and issubclass(mode, DispatchMode)):
        raise TypeError(f"expected a subclass of DispatchMode, got {mode!r}")
    name = registry.entry(op if isinstance(op, str) else op.name()).name
    before = _RULES.get((name, mode))
    _RULES[name, mode] = rule

    def undo() -> None:
        if before is None:
            _RULES.pop((name, mode), None)
        else:
            _RULES[name, mode] = before

    made = Registration(undo)
    registry.note(made.remove)
    return made


def python_kernel(
    entry: OpEntry, below_mask: int, resolve: Callable[[int], Kernel]
) -> Kernel | None:
    """What the Python key runs for an op.

    It is None for compositions, whose parts the modes see, but for those that PyTorch's are shown, and
    where there is only a kernel without an op that modes could be handed.
    """
    if not entry.has_schema:
        return None
    apart = entry.name not in WHOLE and not below_mask & DispatchKey.Inference
    if apart and _decomposes(entry, below_mask):
        return None
    defaults, options = _defaults(entry)
    takes = len(defaults)
    func: OpOverload | None = None

    def call_modes(*args: Any, **kwargs: Any) -> Any:
        nonlocal func
        modes = _STACK.modes
        classes = dispatching((*args, *kwargs.values())) if ANY_DISPATCHES else ()
        if not modes and not classes:  # the key was included by hand
            return resolve(below_mask)(*args, **kwargs)
        if func is None:
            func = overload_of(entry)
        n = len(args)
        if 0 < n <= takes and _is_default(args[-1], defaults[n - 1]):
            args = without_defaults(args, defaults)
        if kwargs:
            kwargs = {
                k: v for k, v in kwargs.items() if not _is_default(v, options.get(k, options))
            }
        op, args, kwargs = shown(func, args, kwargs)
        kept, own = modes[:], MASKS.__dict__
        include = own["include"] if len(kept) > 1 else own["include"] & ~_PYTHON
        keep = own["keep"] & ~_ABOVE
        try:
            return with_masks(include, keep, _offer, modes, op, classes, args, kwargs)
        finally:
            modes[:] = kept

    return call_modes


def _offer(
    modes: list[DispatchMode],
    func: OpOverload,
    classes: tuple[Any, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Offer an op to the modes, innermost first, each with those around it in force.

    Where classes have a handler too, only the innermost mode is asked before them, as PyTorch does; in their
    handlers all modes are in force, so that they see what an op is made of. The caller restores modes and
    masks; it has taken the key out if there is one mode only.

    Raises:
        TypeError: if none of them takes it.
    """
    own = MASKS.__dict__
    own["blocked"] |= _ABOVE
    kept = modes[:]
    declined: tuple[DispatchMode, ...] = ()
    while modes:
        mode = modes.pop()
        if not modes and own["include"] & _PYTHON:
            set_masks(own["include"] & ~_PYTHON, own["keep"])
        result = _handle(mode, func, classes, args, kwargs)
        if result is not NotImplemented:
            return result
        declined += (mode,)
        if classes:
            modes[:] = kept
            set_masks(own["include"] | _PYTHON, own["keep"])
            break
    for each in classes:
        result = each.__torch_dispatch__(func, classes, args, kwargs)
        if result is not NotImplemented:
            return result
    names = ", ".join([type(m).__name__ for m in declined] + [c.__name__ for c in classes])
    raise TypeError(
        f"Multiple dispatch failed for '{func}'; all __torch_dispatch__ handlers returned "
        f"NotImplemented: {names}. A handler must return the op's result, for instance "
        f"func(*args, **(kwargs or {{}}))."
    )


def _handle(
    mode: DispatchMode,
    func: OpOverload,
    classes: tuple[Any, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    if _RULES:
        rule = _RULES.get((func._entry.name, type(mode)))
        if rule is not None:
            return rule(mode, func, classes, args, kwargs)
    if func.mode_rules:
        own = func.mode_rules.get(type(mode))
        if own is not None:
            return own(mode, *args, **kwargs)
    return mode.__torch_dispatch__(func, classes, args, kwargs)


def _decomposes(entry: OpEntry, mask: int) -> bool:
    """Whether a call would run the op's CompositeImplicitAutograd kernel."""
    backends = mask & BACKEND_BITS
    backend = DispatchKey(1 << (backends.bit_length() - 1)) if backends else None
    return choose(entry, backend).rule == "implicit"


def _defaults(entry: OpEntry) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Defaults of positional arguments (an object of its own where there is none) and of options."""
    schema = entry.schema
    if schema is None:
        return (), {}
    positional = tuple(a.default if a.has_default else object() for a in schema.positional)
    return positional, {a.name: a.default for a in schema.keyword_only if a.has_default}


def _is_default(value: Any, default: Any) -> bool:
    """Whether a value is a default, without comparing tensors."""
    return value is default or (type(value) is type(default) and bool(value == default))


def without_defaults(args: tuple[Any, ...], defaults: tuple[Any, ...]) -> tuple[Any, ...]:
    """Positional arguments without the last ones that equal their defaults."""
    n = len(args)
    while n and _is_default(args[n - 1], defaults[n - 1]):
        n -= 1
    return args[:n]


def install() -> None:
    """Serve the Python key."""
    registry.wrappers[DispatchKey.Python] = python_kernel
