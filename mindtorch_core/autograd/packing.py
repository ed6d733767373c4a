"""Hooks on saved tensors: who packs what a node keeps for backward, and unpacks it there.

While a thread is inside `saved_tensors_hooks`, `node.watch_nodes` calls `_pack_node` for every node
that is made; what its ``saved`` holds of tensors is replaced by `Packed` values, which
`mindtorch_core.autograd.saved` recognises when they are read. Outside, nothing of this exists.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from ..autograd_state import AutogradMeta
from ..dispatch.keys import AUTOGRAD
from ..tensor import Tensor
from . import saved
from .grad_mode import no_grad
from .node import Node, freed_error, watch_nodes
from .saved import KEEPS_STORAGE, Packed, saved_output

__all__ = ["active_hooks", "disable", "disabled", "packed", "pop_hooks", "push_hooks"]

Pack = Callable[[Tensor], Any]
Unpack = Callable[[Any], Tensor]
Pair = tuple[Pack, Unpack]


class _Stack(threading.local):
    """The hooks of one thread, innermost last, and why there may be none."""

    def __init__(self) -> None:
        self.pairs: list[Pair] = []
        self.refusal: str | None = None


_STACK: Final = _Stack()
_LOCK: Final = threading.Lock()


def active_hooks() -> Pair | None:
    """The innermost pair of this thread."""
    pairs = _STACK.pairs
    return pairs[-1] if pairs else None


def push_hooks(pack: Pack, unpack: Unpack) -> None:
    """Have tensors packed that this thread saves from now on.

    Raises:
        RuntimeError: where such hooks are disabled.
        TypeError: if one cannot be called.
    """
    if _STACK.refusal is not None:
        raise RuntimeError(_STACK.refusal)
    for hook in (pack, unpack):
        if not callable(hook):
            raise TypeError(f"hooks on saved tensors must be callable, got {type(hook).__name__}")
    with _LOCK:
        if not KEEPS_STORAGE:
            watch_nodes(_pack_node, True)
        KEEPS_STORAGE.append(None)
    _STACK.pairs.append((pack, unpack))


def pop_hooks() -> None:
    """Take the innermost pair off."""
    _STACK.pairs.pop()
    with _LOCK:
        KEEPS_STORAGE.pop()
        if not KEEPS_STORAGE:
            watch_nodes(_pack_node, False)


def disable(message: str | None) -> str | None:
    """Refuse hooks in this thread with a text, or allow them (None); returns what was before.

    Raises:
        RuntimeError: with that text, if there are hooks.
    """
    before = _STACK.refusal
    if message is not None and _STACK.pairs:
        raise RuntimeError(message)
    _STACK.refusal = message
    return before


def disabled() -> bool:
    """Whether hooks are refused in this thread."""
    return _STACK.refusal is not None


def packed(t: Tensor, pair: Pair, number: int | None = None, shown: Tensor | None = None) -> Packed:
    """Call the pack hook.

    Args:
        t: the tensor to save.
        pair: the hooks.
        number: which output of its node it is, None for other tensors.
        shown: what the hook is given instead of the tensor.

    Raises:
        RuntimeError: if the hook changes the tensor in place.
    """
    pack, unpack = pair
    s = t._storage
    version = 0 if s is None else s.version
    with no_grad():
        value = pack(t if shown is None else shown)
    s = t._storage
    if s is not None and s.version != version:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input to "
            "pack hook cannot be modified by in-place operations as this can lead to unexpected "
            "side-effects. Change a clone in the hook."
        )
    meta: AutogradMeta | None = t._autograd if t._keys & AUTOGRAD else None
    return Packed(value, unpack, None if number is not None else meta, number)


def _pack_node(node: Node) -> None:
    """Pack what a new node saved."""
    pair = active_hooks()
    if pair is None or not node.saved or not node.fields:
        return
    items = list(node.saved)
    for field in node.fields:
        value = items[field.at]
        if value is None:
            continue
        if field.kind == "output":
            t = saved_output(node, field.number, value)
            items[field.at] = packed(t, pair, field.number)
        elif field.kind == "inputs":
            items[field.at] = [None if t is None else packed(t, pair) for t in value]
        elif field.kind == "input" and isinstance(value, Tensor):
            items[field.at] = packed(value, pair)
    node.saved = tuple(items)


class SavedTensor:
    """One tensor that a node saved, as ``grad_fn._raw_saved_<name>`` gives it."""

    def __init__(self, node: Node, field: Any) -> None:
        self._node = node
        self._field = field

    @property
    def data(self) -> Any:
        """What a pack hook made of it, or the tensor."""
        value = self._value()
        return value.value if isinstance(value, Packed) else self.unpack()

    def _value(self) -> Any:
        items = self._node.saved
        if items is None:
            raise freed_error()
        return items[self._field.at]

    def unpack(self) -> Any:
        """The tensor, as the formulas will be given it."""
        value, field = self._value(), self._field
        if value is None or field.kind == "value":
            return value
        if field.kind == "output":
            return saved_output(self._node, field.number, value)
        versions = (self._node.saved or ())[field.at + 1]
        if field.kind == "inputs":
            return saved.saved_list(value, versions)
        return saved.saved_input(value, versions) if hasattr(value, "_storage") else value

    def register_hooks(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        """Pack this tensor now, and unpack it when it is needed.

        Raises:
            RuntimeError: if it was freed, or has such hooks.
            TypeError: if it is no tensor.
        """
        if self._node.saved is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate "
                "values of the graph are freed when you call .backward() or autograd.grad(). Specify "
                "retain_graph=True if you need to backward through the graph a second time or if you "
                "need to access saved variables after calling backward."
            )
        if isinstance(self._value(), Packed):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: "
                "only one pair of hooks is allowed at a time."
            )
        t = self.unpack()
        if not isinstance(t, Tensor):
            raise TypeError(f"what was saved as {self._field.name!r} is no single tensor")
        number = self._field.number if self._field.kind == "output" else None
        items = list(self._node.saved)
        items[self._field.at] = packed(t, (pack_hook, unpack_hook), number, t.detach())
        self._node.saved = tuple(items)
