"""What is kept of the functions that users register at a node: tables of them, and handles."""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ..tensors.autograd_state import AutogradMeta
from ..values.interrupts import leaving
from ..values.user_warnings import warn_user

__all__ = [
    "Hook",
    "Hooks",
    "RemovableHandle",
    "Table",
    "add",
    "unserializable_hook",
    "warn_if_has_hooks",
]

Hook = Callable[..., Any]
F = TypeVar("F", bound=Callable[..., Any])
Table = OrderedDict[int, Hook]

_ids = itertools.count()


class RemovableHandle:
    """Handle of a hook; `remove` takes it off, and so does leaving a ``with`` block.

    It keeps no hook alive: when the tables are gone, there is nothing to take off.

    Args:
        hooks_dict: the table the hook is in, an OrderedDict.
        extra_dict: a table, or a list of tables, that the number is taken out of too.

    Attributes:
        id: number of the registration.
        hooks_dict_ref: weak reference to the table.
        extra_dict_ref: weak references to the other tables.
    """

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        tables = [] if extra_dict is None else extra_dict
        self._refer(hooks_dict, tables if isinstance(tables, list) else [tables])
        self.id = next(_ids)

    def _refer(self, hooks_dict: Any, others: Iterable[Any]) -> None:
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks_dict is None else hooks_dict)
        self.extra_dict_ref = tuple(weakref.ref(each) for each in others if each is not None)

    def remove(self) -> None:
        """Take the hook off. A second call does nothing."""
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            table = ref()
            if table is not None:
                table.pop(self.id, None)

    def __getstate__(self) -> tuple[Any, ...]:
        return self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        table, self.id, *extra = state
        self._refer(table, (extra[0] if extra else None) or ())
        global _ids
        _ids = itertools.count(max(next(_ids), self.id + 1))

    def __enter__(self) -> RemovableHandle:
        return self

    __exit__ = leaving(remove)


class Hooks:
    """What backward calls at one node, by handle's number.

    Attributes:
        tensor: per output, what its gradient passes through.
        kept: per output, the places of tensors that retain it.
        pre: called with the gradients of all outputs, before the formulas.
        post: called with those of the inputs and of the outputs, after the formulas.
        accumulated: at a leaf, called with it when its ``grad`` has been updated.
    """

    __slots__ = ("accumulated", "kept", "post", "pre", "tensor")

    def __init__(self) -> None:
        self.tensor: dict[int, Table] = {}
        self.kept: dict[int, list[weakref.ref[AutogradMeta]]] = {}
        self.pre: Table = OrderedDict()
        self.post: Table = OrderedDict()
        self.accumulated: Table = OrderedDict()


def add(table: Table, hook: Hook) -> RemovableHandle:
    """Register a hook."""
    handle = RemovableHandle(table)
    table[handle.id] = hook
    return handle


def unserializable_hook(f: F) -> F:
    """Mark a hook as one that may be lost when its tensor is sent or saved: no warning says so."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of each hook of a tensor that is lost when it is sent or saved, unless it is marked so."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warn_user(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you "
                f"can decorate the function with @torch.utils.hooks.unserializable_hook to suppress "
                f"this warning"
            )
