"""Where in a graph a smaller one is found."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import mindtorch_core as torch

from .....opdefs.torch_ops import OpOverload
from ...attributes import _get_attr
from ...graph import Graph
from ...node import Node

__all__ = ["InternalMatch", "SubgraphMatcher"]

_EDGES = ("placeholder", "output")


@dataclass
class InternalMatch:
    """A place where a pattern is found.

    Attributes:
        anchors: the pattern's nodes that the search began with.
        nodes_map: the graph's node, or value, for each of the pattern's nodes.
        placeholder_nodes: those for the pattern's arguments.
        returning_nodes: those for what the pattern returns.
        name_node_map: for programs that name nodes of a pattern.
    """

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)

    def __copy__(self) -> InternalMatch:
        return InternalMatch(
            self.anchors,
            self.nodes_map.copy(),
            self.placeholder_nodes.copy(),
            self.returning_nodes.copy(),
        )


class SubgraphMatcher:
    """Finds a pattern in graphs.

    Args:
        pattern: its arguments stand for anything.
        match_output: whether the graph must return where the pattern does.
        match_placeholder: whether its arguments stand for arguments alone.
        remove_overlapping_matches: whether of places that share nodes the first is kept, and none that
            uses what is computed outside from its own values.
        ignore_literals: whether values other than nodes need not be equal.

    Raises:
        ValueError: for an empty pattern.
    """

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        if not len(pattern.nodes):
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            assert node.op == "output" or node.users or node.is_impure(), (
                "SubgraphMatcher cannot be initialized with an pattern with dead code"
            )
        self.pattern = pattern
        self.match_output = match_output
        self.match_placeholder = match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        self.ignore_literals = ignore_literals
        self.pattern_placeholder_nodes = [n for n in pattern.nodes if n.op == "placeholder"]
        output = pattern.output_node()
        self.pattern_returning_nodes = output.all_input_nodes
        ends = [node for node in output.all_input_nodes if len(node.users) == 1]
        self.pattern_anchors = [output] if match_output else ends

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """The places where the pattern is found.

        Nobody outside a place uses its values, but those that the pattern returns.

        Args:
            graph: where to look.
            node_name_match: a part of nodes' names that stand for any of the pattern's last nodes.
        """
        found = [
            match
            for match in self._places(
                graph, node_name_match, 0, InternalMatch(self.pattern_anchors)
            )
            if self._is_closed(match)
        ]
        if not self.remove_overlapping_matches:
            return found
        kept: list[InternalMatch] = []
        taken: set[Node] = set()
        for match in found:
            inner = {gn for pn, gn in match.nodes_map.items() if pn.op not in _EDGES}
            if taken.isdisjoint(inner) and not _is_circular(match):
                kept.append(match)
                taken |= inner
        return kept

    def _places(
        self, graph: Graph, name: str, at: int, match: InternalMatch
    ) -> Iterator[InternalMatch]:
        """All ways to find the pattern's ends from one on."""
        anchors = self.pattern_anchors
        if at == len(anchors):
            if anchors:
                places = match.nodes_map
                match.placeholder_nodes = [places[n] for n in self.pattern_placeholder_nodes]
                match.returning_nodes = [places[n] for n in self.pattern_returning_nodes]
                yield match
            return
        for node in graph.nodes:
            if self._is_alike(anchors[at], node, name):
                tried = copy.copy(match)
                if self._match_nodes(anchors[at], node, tried, name):
                    yield from self._places(graph, name, at + 1, tried)

    def _is_alike(self, pattern: Node, node: Node, name: str = "") -> bool:
        """Whether a node does what one of the pattern does, whatever its arguments are."""
        if pattern.op == "placeholder" and not self.match_placeholder:
            return True
        if name and name in node.name:
            return True
        if pattern.op != node.op:
            return False
        if pattern.op in _EDGES:
            return True
        if pattern.op == "get_attr":
            value = _get_attr(pattern.graph.owning_module, pattern.target)
            other = _get_attr(node.graph.owning_module, node.target)
            if type(value) is type(other) and not isinstance(value, torch.Tensor):
                raise RuntimeError(f"Unsupported type {value} when matching attributes")
            return type(value) is type(other)
        return bool(pattern.target == node.target)

    def _match_nodes(self, pattern: Node, node: Node, match: InternalMatch, name: str = "") -> bool:
        """Whether a node and what it uses are as in the pattern; if so, the match has them."""
        places = match.nodes_map
        if pattern in places:
            return bool(places[pattern] == node)
        if any(node is each for each in places.values()) or not self._is_alike(pattern, node, name):
            return False
        places[pattern] = node
        if pattern.op == "placeholder":
            return True
        own, theirs = _arguments(pattern, node)
        return own is not None and self._match_values(own, theirs, match)

    def _match_values(self, pattern: Any, value: Any, match: InternalMatch) -> bool:
        """Whether an argument is as in the pattern."""
        if isinstance(pattern, list | tuple) and isinstance(value, list | tuple):
            return len(pattern) == len(value) and all(
                self._match_values(p, v, match) for p, v in zip(pattern, value, strict=True)
            )
        if isinstance(pattern, Node) and isinstance(value, Node):
            return self._match_nodes(pattern, value, match)
        if isinstance(pattern, Node):
            if pattern.op != "placeholder":
                return self.ignore_literals
            if pattern in match.nodes_map:
                return bool(match.nodes_map[pattern] == value) or self.ignore_literals
            match.nodes_map[pattern] = value
            return True
        if isinstance(value, Node):
            return self.ignore_literals
        return self.ignore_literals or (type(pattern) is type(value) and bool(pattern == value))

    def _is_closed(self, match: InternalMatch) -> bool:
        """Whether nobody outside uses what the pattern does not return."""
        places = {gn: pn for pn, gn in match.nodes_map.items() if pn.op != "placeholder"}
        return all(
            user in places
            for gn, pn in places.items()
            if pn not in self.pattern_returning_nodes
            for user in gn.users
        )


def _arguments(pattern: Node, node: Node) -> tuple[Any, Any]:
    """The arguments of both in one order; None and None if they were not called alike."""
    if len(pattern.args) == len(node.args) and [*pattern.kwargs] == [*node.kwargs]:
        return [*pattern.args, *pattern.kwargs.values()], [*node.args, *node.kwargs.values()]
    if not isinstance(pattern.target, OpOverload):
        return None, None

    def complete(call: Node) -> list[Any]:
        return [
            call.kwargs[each.name]
            if each.name in call.kwargs
            else call.args[at]
            if at < len(call.args) and not each.kwarg_only
            else each.default_value
            for at, each in enumerate(pattern.target._schema.arguments)
        ]

    return complete(pattern), complete(node)


def _is_circular(match: InternalMatch) -> bool:
    """Whether something outside uses a value of the place, and the place uses what comes of it."""
    inner = {gn for pn, gn in match.nodes_map.items() if pn.op not in _EDGES}
    seen: set[Node] = set()
    left = [user for node in inner for user in node.users if user not in inner]
    while left:
        node = left.pop()
        if node in inner:
            return True
        if node not in seen:
            seen.add(node)
            left += node.users
    return False
