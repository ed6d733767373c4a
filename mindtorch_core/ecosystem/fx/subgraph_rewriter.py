"""A part of a graph that is replaced wherever it is found."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import mindtorch_core as torch

from ._symbolic_trace import symbolic_trace
from .attributes import _get_attr, _has_attr
from .graph import Graph
from .graph_module import GraphModule
from .node import Node

if TYPE_CHECKING:
    from .passes.utils.matcher_utils import InternalMatch

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


class Match(NamedTuple):
    """A place where a pattern was found.

    Attributes:
        anchor: the pattern's node that the search began with.
        nodes_map: the graph's node for each of the pattern's nodes.
    """

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """A place where a pattern was found and replaced.

    Attributes:
        anchor: as `Match` has it.
        nodes_map: as `Match` has it.
        replacements: the nodes that are there now.
    """

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Put one piece of program in the place of another, wherever that is found.

    Args:
        gm: the module; its code is written again.
        pattern: a function or `GraphModule`; its arguments stand for anything, and all are used in it.
        replacement: one with as many arguments.

    Returns:
        The places; of those that share nodes the first was replaced.

    Example:
        >>> traced = torch.fx.symbolic_trace(lambda x: torch.relu(torch.neg(x)))
        >>> found = torch.fx.replace_pattern(traced, lambda x: torch.neg(x), lambda x: torch.abs(x))
        >>> len(found), traced(torch.tensor([-2.0]))
        (1, tensor([2.]))
    """
    replaced = replace_pattern_with_filters(gm, pattern, replacement)
    return [Match(each.anchor, each.nodes_map) for each in replaced]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Any,
    replacement: Any = None,
    match_filters: list[Callable[[InternalMatch, Graph, Graph], bool]] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """`replace_pattern`, where places may be refused and replacements made for each.

    Args:
        gm: the module.
        pattern: a function, `Graph` or `GraphModule`.
        replacement: likewise; None where a callback makes it.
        match_filters: are given a place, the graph and the pattern, and say whether to replace it.
        ignore_literals: whether values other than nodes need not be equal.
        replacement_callback: is given the same and makes the graph that is put there.
        node_name_match: as `SubgraphMatcher.match` takes it.
    """
    from .passes.utils.matcher_utils import SubgraphMatcher

    graph, wanted = gm.graph, _graph_of(pattern)
    matcher = SubgraphMatcher(wanted, ignore_literals=ignore_literals)
    assert replacement is not None or replacement_callback is not None, (
        "Must provide either a replacement GraphModule or a replacement callback"
    )
    common = None if replacement is None else _graph_of(replacement)
    changed: dict[Node, Node] = {}
    replaced: list[ReplacedPatterns] = []
    found = [
        match
        for match in matcher.match(graph, node_name_match=node_name_match)
        if all(wants(match, graph, wanted) for wants in match_filters or ())
    ]
    for match in found:
        new = replacement_callback(match, graph, wanted) if replacement_callback else common
        made = _put(graph, match, _graph_of(new), changed)
        for node in reversed(wanted.nodes):
            if node.op not in ("placeholder", "output"):
                graph.erase_node(match.nodes_map[node])
        replaced.append(ReplacedPatterns(match.anchors[0], match.nodes_map, made))
    gm.recompile()
    if isinstance(replacement, torch.nn.Module):
        _bring_attributes(gm, replacement)
    return replaced


def _graph_of(program: Any) -> Graph:
    if isinstance(program, Graph):
        return program
    traced = program if isinstance(program, GraphModule) else symbolic_trace(program)
    return traced.graph


def _put(graph: Graph, match: InternalMatch, new: Graph, changed: dict[Node, Node]) -> list[Node]:
    """Copy a replacement to a place, and have it used; gives the copies.

    Args:
        graph: where the place is.
        match: the place.
        new: the replacement.
        changed: nodes that went in other places, and what came for them; those of this one are added.
    """
    arguments = [node for node in new.nodes if node.op == "placeholder"]
    assert len(arguments) == len(match.placeholder_nodes), (
        f"Placeholder count mismatch: {len(match.placeholder_nodes)} vs {len(arguments)}"
    )
    for at, given in enumerate(match.placeholder_nodes):
        if isinstance(given, Node) and given in changed:
            match.placeholder_nodes[at] = changed[given]
            key = next(key for key, value in match.nodes_map.items() if value is given)
            match.nodes_map[key] = changed[given]
    copies: dict[Node, Any] = dict(zip(arguments, match.placeholder_nodes, strict=True))
    with graph.inserting_before(_before(match.returning_nodes)):
        result = graph.graph_copy(new, copies)
    results = (result,) if isinstance(result, Node) else result
    assert len(match.returning_nodes) == len(results), (
        f"Returning nodes count mismatch: {len(match.returning_nodes)} vs {len(results)}"
    )
    for old, node in zip(match.returning_nodes, results, strict=True):
        old.replace_all_uses_with(node)
        changed[old] = node
    return [node for node in copies.values() if node not in match.placeholder_nodes]


def _before(nodes: Iterable[Node]) -> Node:
    """The first user of nodes; if there is none, what comes behind the last of them."""
    users = {user for node in nodes for user in node.users}
    return min(users) if users else max(nodes).next


def _bring_attributes(gm: GraphModule, replacement: Any) -> None:
    """Let a module have what a replacement reads and calls.

    Raises:
        RuntimeError: if neither has it.
    """
    gm.delete_all_unused_submodules()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr") or _has_attr(gm, node.target):
            continue
        if not _has_attr(replacement, node.target):
            raise RuntimeError(
                f'Attempted to create a "{node.op}" node during subgraph rewriting with target '
                f"{node.target}, but the referenced attribute does not exist in the replacement GraphModule"
            )
        value = copy.deepcopy(_get_attr(replacement, node.target))
        if isinstance(value, torch.nn.Module):
            gm.add_submodule(node.target, value)
        else:
            setattr(gm, node.target, value)
    gm.graph.lint()
