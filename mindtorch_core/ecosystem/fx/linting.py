"""Whether a graph can run: what `Graph.lint` looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mindtorch_core as torch

if TYPE_CHECKING:
    from .graph import Graph
    from .node import Node

__all__ = ["lint"]


def lint(graph: Graph) -> None:
    """Check a graph.

    Raises:
        RuntimeError: for nodes in a wrong order or graph, names that are there twice, targets that are not.
        ValueError: for a target of a wrong type.
    """
    names: set[str] = set()
    seen: set[Node] = set()
    for node in graph.nodes:
        if node.graph is not graph:
            raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
        if node not in graph._find_nodes_lookup_table:
            raise RuntimeError(f"Node '{node}' is not added to the side table")
        for used in node._input_nodes:
            _check_argument(graph, used, node, seen)
        seen.add(node)
        if node.name in names:
            raise RuntimeError(f"Node redefined name {node.name}!")
        names.add(node.name)
    if graph.owning_module is not None:
        for node in graph.nodes:
            _check_target(graph.owning_module, node)


def _check_argument(graph: Graph, used: Node, user: Node, seen: set[Node]) -> None:
    where = f"Argument '{used}' of Node '{user}' "
    if used.graph is not graph:
        raise RuntimeError(
            f"{where}does not belong to this Graph, but was used as an argument! If you are copying nodes "
            f"from another graph, make sure to use ``arg_transform`` on node_copy() to remap values\n{graph}"
        )
    if used not in seen:
        raise RuntimeError(
            f"{where}was used before it has been defined! Please check that Nodes in the graph are "
            f"topologically ordered\n{graph}"
        )


def _check_target(owner: Any, node: Node) -> None:
    target = node.target
    expected = "Callable" if node.op == "call_function" else "str"
    if not (callable(target) if expected == "Callable" else isinstance(target, str)):
        raise ValueError(
            f"Node {node} target {target} has type {torch.typename(target)} but a {expected} is expected"
        )
    if node.op not in ("get_attr", "call_module"):
        return
    found = owner
    atoms = target.split(".")
    for at, atom in enumerate(atoms):
        found = getattr(found, atom, None)
        path = ".".join(atoms[:at])
        if found is None:
            raise RuntimeError(
                f"Node {node} target {target} references nonexistent attribute {atom} of {path}"
            )
    if node.op == "call_module" and not isinstance(found, torch.nn.Module):
        raise RuntimeError(
            f"Node {node} target {target} {atoms[-1]} of {'.'.join(atoms[:-1])} does not reference an "
            f"nn.Module"
        )
