"""A graph cut into several modules, and one that calls them."""

from __future__ import annotations

import graphlib
import inspect
from collections.abc import Callable
from typing import Any

from ..attributes import _get_attr
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node, map_arg
from ..proxy import Proxy

__all__ = ["split_module"]

_OUTSIDE = ("placeholder", "get_attr", "output")


class _Part:
    """One of the modules that are made.

    Attributes:
        name: its path in the module that calls it.
        nodes: those of the graph that go there.
        inputs: nodes from elsewhere that they use.
        outputs: nodes of it that others use.
        needs: the other parts that come before it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.nodes: list[Node] = []
        self.inputs: dict[Node, None] = {}
        self.outputs: dict[Node, None] = {}
        self.needs: dict[_Part, None] = {}


def split_module(
    m: GraphModule,
    root_m: Any,
    split_callback: Callable[[Node], Any],
    qualname_map: dict[str, str] | None = None,
    keep_original_order: bool | None = False,
    keep_original_node_name: bool | None = False,
    keep_original_input_name: bool = True,
    *,
    partition_affix: str | None = None,
    tuple_return: bool = False,
) -> GraphModule:
    """Cut a graph into modules ``submod_0``, ``submod_1``, ..., and one that calls them.

    Args:
        m: the module.
        root_m: not used; PyTorch has this argument.
        split_callback: says for a node which module it goes to.
        qualname_map: gets the old path of each module that moves, by the new one.
        keep_original_order: no effect: modules are called as early as the graph's first nodes of them.
        keep_original_node_name: whether nodes keep their names.
        keep_original_input_name: whether arguments of the new modules are called as the values were;
            else ``arg_0``, ``arg_1``, ...
        partition_affix: stands in the modules' names before the number.
        tuple_return: whether modules with one result return a tuple too.

    Raises:
        RuntimeError: if two modules would need each other.

    Example:
        >>> from torch.fx.passes.split_module import split_module
        >>> traced = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1))
        >>> cut = split_module(traced, None, lambda node: int(node.target is torch.relu))
        >>> [name for name, _ in cut.named_children()], cut(torch.tensor([-3.0, 1.0]))
        (['submod_0', 'submod_1'], tensor([0., 2.]))
    """
    start = f"submod_{partition_affix}_" if partition_affix else "submod_"
    main = Graph()
    values: dict[Node, Node] = {}
    attributes: dict[str, Any] = {}
    for node in m.graph.nodes:
        if node.op == "placeholder":
            default = node.args[0] if node.args else inspect.Signature.empty
            values[node] = main.placeholder(node.target, node.type, default)
        elif node.op == "get_attr":
            attributes[node.target] = _get_attr(m, node.target)
            values[node] = main.get_attr(node.target)
        if node in values:
            values[node].meta = node.meta.copy()
    naming = (keep_original_node_name, keep_original_input_name)
    for part in _in_order(_parts(m.graph, split_callback, start)):
        made, paths = _module_of(part, m, naming, tuple_return)
        attributes[part.name] = made
        if qualname_map is not None:
            qualname_map.update({f"{part.name}.{new}": old for new, old in paths.items()})
        call = main.call_module(part.name, tuple(values[node] for node in part.inputs))
        if len(part.outputs) > 1 or tuple_return:
            results: Any = Proxy(call)
            values.update({node: results[at].node for at, node in enumerate(part.outputs)})
        else:
            values.update(dict.fromkeys(part.outputs, call))
    old = m.graph.output_node()
    main.output(map_arg(old.args[0], values.__getitem__)).meta = old.meta.copy()
    return GraphModule(attributes, main)


def _parts(graph: Graph, choose: Callable[[Node], Any], start: str) -> list[_Part]:
    """The parts, with what goes from one to another."""
    parts: dict[str, _Part] = {}
    homes: dict[Node, _Part] = {}
    for node in graph.nodes:
        if node.op not in _OUTSIDE:
            name = f"{start}{choose(node)}"
            homes[node] = parts.setdefault(name, _Part(name))
            homes[node].nodes.append(node)
    for node in graph.nodes:
        home = homes.get(node)
        for used in node.all_input_nodes:
            source = homes.get(used)
            if source is home:
                continue
            if home is not None:
                home.inputs[used] = None
            if source is not None:
                source.outputs[used] = None
                if home is not None:
                    home.needs[source] = None
    return [*parts.values()]


def _in_order(parts: list[_Part]) -> list[_Part]:
    """The parts, each behind those that it needs.

    Raises:
        RuntimeError: if two need each other.
    """
    try:
        return [*graphlib.TopologicalSorter({part: part.needs for part in parts}).static_order()]
    except graphlib.CycleError as error:
        names = ", ".join(part.name for part in error.args[1])
        raise RuntimeError(f"cycle exists between partitions! {names}") from None


def _module_of(
    part: _Part, module: GraphModule, naming: tuple[Any, bool], as_tuple: bool
) -> tuple[GraphModule, dict[str, str]]:
    """A part as a module, and the old paths of the modules that it calls by the new ones."""
    own_names, input_names = naming
    graph = Graph()
    values: dict[Node, Node] = {}
    for at, node in enumerate(part.inputs):
        name = node.name if input_names else f"arg_{at}"
        values[node] = graph.placeholder(name, node.type)
        values[node].meta = node.meta.copy()
    modules: dict[str, Any] = {}
    paths: dict[str, str] = {}
    for node in part.nodes:
        target = node.target
        if node.op == "call_module":
            target = node.target.replace(".", "_")
            modules[target] = module.get_submodule(node.target)
            paths[target] = node.target
        args, kwargs = map_arg((node.args, node.kwargs), values.__getitem__)
        own = node.name if own_names else None
        values[node] = graph.create_node(node.op, target, args, kwargs, own, node.type)
        values[node].meta = node.meta.copy()
    results = tuple(values[node] for node in part.outputs)
    graph.output(results if len(results) > 1 or as_tuple else next(iter(results), None))
    return GraphModule(modules, graph), paths
