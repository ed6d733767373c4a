"""The graph of a backward pass that comes again, and the guards that tell whether it is as it was."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from ..deferred.replay.known import getter
from ..dispatch.keys import AUTOGRAD
from ..tensors.autograd_state import AutogradMeta
from .node import Node
from .saved import Packed, unchanged

__all__ = ["KnownGraph", "KnownNode", "is_empty", "is_unhooked"]

_flat: Final = chain.from_iterable


class KnownNode(NamedTuple):
    """A node of such a graph, where places in it are numbers.

    Attributes:
        made: the place of what it has made.
        kind: its class.
        saved: classes of what it saved: hooks on saved tensors put others there.
        listed: classes of what is in the lists among that.
        edges: the places that its edges lead to; -1 for an edge to none.
    """

    made: int
    kind: type[Node]
    saved: tuple[type, ...]
    listed: tuple[type, ...]
    edges: Sequence[Any]

    @classmethod
    def of(cls, node: Node, made: int, edges: Sequence[Any]) -> KnownNode | None:
        """A node; None for one whose gradient is not what its formulas say of what it saved."""
        saved = node.saved
        if saved is None or node.hooks is not None or node.custom or node.storages is not None:
            return None
        kinds, listed = tuple(map(type, saved)), _listed(saved)
        if Packed in kinds or Packed in listed:
            return None
        return cls(made, type(node), kinds, listed, edges)


class KnownGraph:
    """Nodes, the edges between them, and leaves; all nodes are looked at together, as most calls are for one.

    Args:
        nodes: the nodes.
        leaves: places of the leaves.
        empty: whether these must not have gradients yet.
    """

    def __init__(self, nodes: Sequence[KnownNode], leaves: Sequence[int], *, empty: bool) -> None:
        self._made = getter([node.made for node in nodes])
        self._kinds = [node.kind for node in nodes]
        self._edges = getter([n for node in nodes for n in node.edges])
        self._saved = [kind for node in nodes for kind in node.saved]
        self._lists = [(i, node.listed) for i, node in enumerate(nodes) if list in node.saved]
        self._leaves, self._empty = leaves, empty
        self._inputs: list[
            int
        ] = []  # where tensors stand among what all have saved, before versions
        self._outputs: list[int] = []
        start = 0
        for node in nodes:
            for at, kind in node.kind.held:
                if kind == "input" and hasattr(node.saved[at], "_storage"):
                    self._inputs.append(start + at)
                elif kind == "output" and node.saved[at] is tuple:
                    self._outputs.append(start + at)
            start += len(node.saved)

    def nodes_of(self, metas: Sequence[Any]) -> list[Node] | None:
        """The nodes of this run; None if a guard fails.

        Args:
            metas: the places, and None behind them.
        """
        nodes: list[Any] = [meta.node for meta in self._made(metas) if meta is not None]
        if [*map(type, nodes)] != self._kinds:
            return None
        for node in nodes:
            if node.hooks is not None or node.saved is None:
                return None
        edges = [*_flat([node.edges for node in nodes])]
        saved = [*_flat([node.saved for node in nodes])]
        if edges != [*self._edges(metas)] or [*map(type, saved)] != self._saved:
            return None
        for i in self._inputs:
            if (s := saved[i]._storage) is not None and s.version != saved[i + 1]:
                return None
        for i in self._outputs:
            output = saved[i]
            if (s := output[5]) is not None and s.version != output[7]:
                return None
        for i, listed in self._lists:
            if _listed(nodes[i].saved) != listed or not unchanged(nodes[i]):
                return None
        return nodes if all(map(self._has_leaf, map(metas.__getitem__, self._leaves))) else None

    def _has_leaf(self, meta: AutogradMeta | None) -> bool:
        """Whether a place is a leaf's that is there and as it was."""
        if meta is None or not (is_empty(meta) if self._empty else is_unhooked(meta)):
            return False
        t = meta.tensor()
        return t is not None and t._autograd is meta and bool(t._keys & AUTOGRAD)


def is_unhooked(meta: AutogradMeta) -> bool:
    """Whether a place is a leaf's without hooks."""
    return meta.is_leaf and (meta.node is None or meta.node.hooks is None)


def is_empty(meta: AutogradMeta) -> bool:
    """Whether a place is a leaf's that has neither a gradient nor hooks."""
    return meta.grad is None and is_unhooked(meta)


def _listed(saved: Sequence[Any]) -> tuple[type, ...]:
    return tuple([type(v) for each in saved if isinstance(each, list) for v in each])
