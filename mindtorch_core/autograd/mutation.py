"""Changing tensors in place that backward still needs: their old values are copied first."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

from ..dispatch.registry import registry
from ..dispatch.written import written, written_places
from ..frontend.dispatch_modes import DispatchMode
from ..gradients import packing
from ..tensors.storage import Storage
from ..tensors.tensor import Tensor
from ..values.interrupts import contextmanager, surely

__all__ = ["mutable_saved_tensors"]


class _Kept:
    """A saved tensor: itself until its memory is about to change, a copy afterwards."""

    def __init__(self, value: Tensor, block: _Block) -> None:
        self.value = value
        self.block = block
        self.copied = False


class _Block:
    """What one block keeps.

    Attributes:
        open: whether it is still open.
        kept: by storage, the saved tensors that show it.
    """

    def __init__(self) -> None:
        self.open = True
        self.kept: weakref.WeakKeyDictionary[Storage, weakref.WeakSet[_Kept]] = (
            weakref.WeakKeyDictionary()
        )

    def pack(self, t: Tensor) -> _Kept:
        kept = _Kept(t.detach(), self)
        self.kept.setdefault(t._own_storage(), weakref.WeakSet()).add(kept)
        return kept

    def unpack(self, kept: _Kept) -> Tensor:
        if not kept.block.open:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which "
                "the graph was originally recorded."
            )
        return kept.value

    def copy_before_write(self, t: Tensor) -> None:
        if t._storage is None:
            return
        for kept in list(self.kept.get(t._storage, ())):
            if not kept.copied:
                kept.value = kept.value.clone()
                kept.copied = True


class _Watch(DispatchMode):
    """Copies what an op is about to overwrite."""

    def __init__(self, block: _Block) -> None:
        self.block = block

    def __torch_dispatch__(
        self,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        options = kwargs or {}
        schema = registry.entry(func.name()).schema
        for t in written(written_places(schema), args, options):
            self.block.copy_before_write(t)
        return func(*args, **options)


@contextmanager
def mutable_saved_tensors() -> Iterator[_Block]:
    """What `mindtorch_core.autograd.graph.allow_mutation_on_saved_tensors` returns."""
    if packing.disabled() or packing.active_hooks() is not None:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    block = _Block()
    depth = packing.depth()
    packing.push_hooks(block.pack, block.unpack)
    try:
        with _Watch(block):
            yield block
    finally:
        block.open = False
        surely(lambda: packing.pop_hooks(depth))
