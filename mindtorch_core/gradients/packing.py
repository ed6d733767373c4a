"""Hooks on saved tensors: who packs what a node keeps for backward, and unpacks it there.

While a thread is inside `saved_tensors_hooks`, `node.WATCHERS` holds `_pack_node`, which is called for every
node that is made; what its ``saved`` holds of tensors is replaced by `Packed` values, which
`mindtorch_core.gradients.saved` recognises when they are read. Outside, nothing of this exists.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

from ..dispatch.keys import AUTOGRAD, without_gradients
from ..tensors.autograd_state import AutogradMeta
from ..tensors.tensor import Tensor
from .node import WATCHERS, Node
from .saved import Packed, saved_output

__all__ = [
    "Pack",
    "Unpack",
    "active_hooks",
    "depth",
    "disable",
    "disabled",
    "packed",
    "pop_hooks",
    "push_hooks",
    "with_hooks",
]

Pack = Callable[[Tensor], Any]
Unpack = Callable[[Any], Tensor]
Pair = tuple[Pack, Unpack]
T = TypeVar("T")


class _Stack(threading.local):
    """The hooks of one thread, innermost last, and why there may be none."""

    def __init__(self) -> None:
        self.pairs: list[Pair] = []
        self.refusal: str | None = None


_STACK: Final = _Stack()


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
    pairs, watchers = _STACK.pairs, WATCHERS
    # No calls: an interrupt finds both done, or nothing.
    watchers += (_pack_node,)
    pairs += ((pack, unpack),)


def depth() -> int:
    """How many pairs this thread has."""
    return len(_STACK.pairs)


def pop_hooks(depth: int) -> None:
    """Take pairs off until there are as many as there were; may be called again."""
    pairs = _STACK.pairs
    while pairs[depth:]:
        del pairs[-1]
        WATCHERS.remove(_pack_node)


def with_hooks(pack: Pack, unpack: Unpack, call: Callable[..., T], /, *args: Any, **kw: Any) -> T:
    """``call(*args, **kw)`` with hooks, which no interrupt leaves in force."""
    before = len(_STACK.pairs)
    try:
        push_hooks(pack, unpack)
        return call(*args, **kw)
    finally:
        try:
            pop_hooks(before)
        except BaseException:  # an interrupt, before all was done
            pop_hooks(before)
            raise


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
    value = without_gradients(pack, t if shown is None else shown)
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
