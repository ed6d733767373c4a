"""What is known of a walk through the graph while it goes on, for those who have to ask.

A walk is only described while somebody `observe`s walks; otherwise it costs nothing.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable
from typing import Any, Final

from .node import AccumulateGrad, Node

__all__ = ["OBSERVED", "Walk", "collecting", "current_walk", "enter", "observe", "reachable"]

# Holds an element as soon as something depends on the description of walks.
OBSERVED: Final[list[None]] = []

_next_number: Final = itertools.count().__next__


class Walk:
    """One walk.

    Attributes:
        number: tells walks apart.
        roots: where it began.
        needed: the nodes it visits, None for all that are reachable.
        collects: whether it visits only what leads to some inputs.
        outer: the walk that this one goes on in.
    """

    def __init__(self, roots: list[Any], needed: Any, collects: bool) -> None:
        self.number = _next_number()
        self.roots = roots
        self.needed = needed
        self.collects = collects
        self.outer = _CURRENT.walk
        self._leaves: set[Any] | None = None
        self._nodes: set[Node] = set()

    def visits(self, node: Node) -> bool:
        """Whether the walk evaluates a node, or delivers a gradient to its leaf.

        Raises:
            RuntimeError: if it is the node of a leaf, and the walk collects gradients.
        """
        leaf = isinstance(node, AccumulateGrad)
        if self.collects:
            if leaf:
                raise RuntimeError(
                    "hooks on several tensors that include leaves do not work with "
                    "torch.autograd.grad() and backward(inputs=...): they do not say which leaves get "
                    "a gradient. Call backward() without inputs."
                )
            return bool(self.needed.get(node, False))
        if self._leaves is None:
            nodes = reachable(m.node for m in self.roots if not m.is_leaf)
            self._nodes = set(nodes)
            ends = (e for n in nodes for e in n.edges if e is not None and e.is_leaf)
            self._leaves = {*ends, *(m for m in self.roots if m.is_leaf)}
        return (
            node.meta in self._leaves if isinstance(node, AccumulateGrad) else node in self._nodes
        )


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


_CURRENT: Final = _Current()


def current_walk() -> Walk | None:
    """The innermost walk of this thread, if walks are observed."""
    return _CURRENT.walk


def collecting() -> bool:
    """Whether a walk that this thread is in visits only what leads to some inputs."""
    walk = _CURRENT.walk
    while walk is not None:
        if walk.collects:
            return True
        walk = walk.outer
    return False


def enter(walk: Walk | None) -> None:
    """Make a walk the current one of this thread."""
    _CURRENT.walk = walk


def observe() -> None:
    """Have walks described from now on."""
    if not OBSERVED:
        OBSERVED.append(None)
