"""What a node saved, as its attributes ``_saved_<name>`` and ``_raw_saved_<name>``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from ..tensors.tensor import Tensor
from .node import Field, Node, freed_error
from .packing import Pack, Unpack, packed
from .saved import Packed, saved_input, saved_list, saved_output

__all__ = ["SavedTensor", "saved_attributes"]


def saved_attributes(fields: Iterable[Field]) -> dict[str, Any]:
    """Members of a node's class that show what it saves.

    Descriptors: with a ``__getattr__``, CPython finds every attribute of a node more slowly.
    """
    members: dict[str, Any] = {}
    for field in fields:
        members[f"_saved_{field.name}"] = property(partial(_unpacked, field))
        members[f"_raw_saved_{field.name}"] = property(partial(_raw, field))
    return members


def _raw(field: Field, node: Node) -> SavedTensor:
    return SavedTensor(node, field)


def _unpacked(field: Field, node: Node) -> Any:
    return SavedTensor(node, field).unpack()


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
            return tuple(saved_list(value, versions))
        return saved_input(value, versions) if hasattr(value, "_storage") else value

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
