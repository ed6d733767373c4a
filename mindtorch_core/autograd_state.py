"""What a tensor knows about its place in the graph of autograd."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .autograd.node import Node

__all__ = ["AutogradMeta"]


class AutogradMeta:
    """A tensor's node and output number; consumers keep it as their edge to the tensor.

    It is never changed in what backward reads (an in-place op gives the tensor a new one), so a
    graph built earlier keeps pointing where it did.

    Attributes:
        node: the node whose gradient this is: the op's for results, an accumulator for leaves.
        output_nr: which of the node's outputs the tensor is.
        grad: accumulated gradient of a leaf, or of a result that retains it.
        is_leaf: whether the user made the tensor.
    """

    __slots__ = ("__weakref__", "grad", "is_leaf", "node", "output_nr")

    def __init__(self, node: Node | None, output_nr: int = 0, is_leaf: bool = False) -> None:
        self.node = node
        self.output_nr = output_nr
        self.grad: Any = None
        self.is_leaf = is_leaf
