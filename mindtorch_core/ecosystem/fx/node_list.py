"""The nodes of a graph: in their order, and by what they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .graph import Graph
    from .node import Node

__all__ = ["InsertPoint", "NodeList", "NodesByTarget"]


class NodeList:
    """The nodes of a graph, first to last; one may be erased while they are gone through."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Any]:
        return self._each("_next")

    def __reversed__(self) -> Iterator[Any]:
        return self._each("_prev")

    def _each(self, direction: str) -> Iterator[Any]:
        root = self.graph._root
        node = getattr(root, direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, direction)


class NodesByTarget:
    """The nodes of a graph by op and, for calls of functions, target."""

    def __init__(self) -> None:
        self._table: dict[tuple[str, Any], dict[Node, None]] = {}

    @staticmethod
    def _key(node: Node) -> tuple[str, Any]:
        return node.op, node.target if node.op == "call_function" else None

    def __contains__(self, node: Node) -> bool:
        return node in self._table.get(self._key(node), ())

    def insert(self, node: Node) -> None:
        """Take a node in."""
        self._table.setdefault(self._key(node), {})[node] = None
        node.__dict__["_listed"] = True

    def remove(self, node: Node) -> None:
        """Leave a node out."""
        del self._table[self._key(node)][node]
        node.__dict__["_listed"] = False

    def find(self, op: str, target: Any) -> list[Node]:
        """The nodes with an op and, unless it is None, a target."""
        if op == "call_function":
            assert target is not None, "target must not be None for call_function op"
            return [*self._table.get((op, target), ())]
        found = self._table.get((op, None), ())
        return [node for node in found if target is None or node.target == target]


class InsertPoint:
    """A context in which a graph puts new nodes elsewhere; as a statement it does so from now on."""

    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self.graph = graph
        self._before, graph._insert = graph._insert, insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        self.graph._insert = self._before
