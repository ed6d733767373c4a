"""Tensors that graphs do not keep: they are given up after forward, and got again when backward asks.

A graph would keep what ops save of a tensor. Inside `Recalled.saving`, what lies in the memory of a known
tensor is saved as the way to get that tensor again. Everything else is saved as the hooks around would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from ..gradients import packing
from ..tensors.tensor import Tensor

__all__ = ["Recalled", "call_hooks_of_gradient"]

Recall = Callable[[], Tensor]


class _Place:
    """A view of a tensor that can be got again, or the DTensor whose part that is."""

    __slots__ = ("offset", "recall", "shape", "strides", "wrap")

    def __init__(self, recall: Recall, t: Tensor, wrap: Callable[[Tensor], Tensor] | None) -> None:
        self.recall, self.wrap = recall, wrap
        self.shape, self.strides, self.offset = tuple(t.shape), t.stride(), t.storage_offset()

    def tensor(self) -> Tensor:
        """The view, of the tensor as it is got now."""
        found = self.recall().detach().as_strided(self.shape, self.strides, self.offset)
        return found if self.wrap is None else self.wrap(found)


class Recalled:
    """Tensors that can be got again, by their memory."""

    def __init__(self) -> None:
        self._known: Final[dict[int, tuple[Tensor, Recall]]] = {}
        self._pair: Final = (self._pack, self._unpack)
        self._around: list[Any] = []  # hooks that were in force before ours

    def add(self, tensor: Tensor, recall: Recall) -> None:
        """Have a tensor that fills its memory be got again by a function, which gives one that lies alike."""
        self._known[id(tensor._own_storage())] = tensor, recall

    def remove(self, tensor: Tensor) -> None:
        """Forget a tensor."""
        self._known.pop(id(tensor._storage), None)

    @contextmanager
    def saving(self) -> Iterator[None]:
        """A block in which graphs do not keep these tensors."""
        outer = packing.active_hooks()
        if packing.disabled() or (outer is not None and outer[0] == self._pack):
            yield  # nothing may be packed, or it is already
            return
        self._around.append(outer)
        before = packing.depth()
        try:
            packing.push_hooks(*self._pair)
            yield
        finally:
            packing.pop_hooks(before)
            self._around.pop()

    def _pack(self, t: Tensor) -> Any:
        part: Any = getattr(t, "_local_tensor", t)
        storage = part._storage
        found = None if storage is None else self._known.get(id(storage))
        if found is not None and found[0]._dtype is part._dtype:
            wrap = (
                None
                if part is t
                else partial(type(t), spec=getattr(t, "_spec", None), requires_grad=False)
            )
            return _Place(found[1], part, wrap)
        outer = self._around[-1]
        return t if outer is None else (outer[1], outer[0](t))

    def _unpack(self, packed: Any) -> Tensor:
        if isinstance(packed, _Place):
            return packed.tensor()
        if isinstance(packed, tuple):
            unpack, value = packed
            return unpack(value)  # type: ignore[no-any-return]
        return packed  # type: ignore[no-any-return]


def call_hooks_of_gradient(leaf: Tensor) -> None:
    """Call the hooks that `register_post_accumulate_grad_hook` has put on a leaf.

    For whoever gives a leaf its gradient, where the graph does not.
    """
    meta = leaf._autograd
    hooks = None if meta is None or meta.node is None else meta.node.hooks
    if hooks is not None:
        for hook in list(hooks.accumulated.values()):
            hook(leaf)
