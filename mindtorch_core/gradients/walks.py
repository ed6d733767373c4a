"""What is known of a walk through the graph while it goes on, for those who have to ask.

A walk is only described while somebody `observe`s walks; otherwise it costs nothing.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Container, Iterable
from typing import Any, Final

from ..tensors.autograd_state import AutogradMeta
from .node import AccumulateGrad, Node

__all__ = ["CURRENT", "OBSERVED", "Walk", "current_walk", "observe", "reachable"]

# Holds an element as soon as something depends on the description of walks.
OBSERVED: Final[list[None]] = []

_next_number: Final = itertools.count().__next__


class Walk:
    """One walk.

    Attributes:
        number: tells walks apart.
        roots: where it began.
        needed: the nodes it comes to, and whether it goes on from there; None for all reachable.
        targets: the places whose gradients it collects, None if it goes to all leaves.
        outer: the walk that this one goes on in.
    """

    def __init__(
        self,
        roots: list[AutogradMeta],
        needed: dict[Node, bool] | None,
        targets: Container[tuple[Any, int]] | None,
    ) -> None:
        self.number = _next_number()
        self.roots = roots
        self.needed = needed
        self.targets = targets
        self.outer = CURRENT.walk
        self._nodes: set[Node] | None = None
        self._leaves: set[AutogradMeta] = set()

    def visits(self, node: Node) -> bool:
        """Whether gradients come to a node, or to the leaf that a node stands for."""
        if self._nodes is None:
            self._find()
        if isinstance(node, AccumulateGrad):
            return node.meta in self._leaves
        return self._nodes is not None and node in self._nodes

    def _find(self) -> None:
        """Find the nodes and the leaves that gradients come to."""
        passed = nodes = reachable(m.node for m in self.roots if not m.is_leaf)
        if self.needed is not None:
            nodes = list(self.needed)
            passed = [n for n, further in self.needed.items() if further]
        ends = [e for n in passed for e in n.edges if e is not None and e.is_leaf]
        ends += [m for m in self.roots if m.is_leaf]
        self._nodes = set(nodes)
        self._leaves = {e for e in ends if self.targets is None or (e, 0) in self.targets}


def reachable(starts: Iterable[Node | None]) -> list[Node]:
    """All nodes that can be reached from some, those included."""
    found: dict[Node, None] = {}
    stack = [n for n in starts if n is not None]
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = None
            stack += [
                e.node for e in node.edges if e is not None and not e.is_leaf and e.node is not None
            ]
    return list(found)


class _Current(threading.local):
    walk: Walk | None = None


# The innermost walk of each thread; the engine sets it.
CURRENT: Final = _Current()


def current_walk() -> Walk | None:
    """The innermost walk of this thread, if walks are observed."""
    return CURRENT.walk


def observe() -> None:
    """Have walks described from now on."""
    if not OBSERVED:
        OBSERVED.append(None)
