"""Models made quicker for evaluation: normalization becomes part of the layer before it."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Iterable
from typing import Any

import mindtorch_core as torch

from .._symbolic_trace import symbolic_trace
from ..graph import Graph
from ..graph_module import GraphModule
from ..interpreter import Transformer
from ..node import Node

__all__ = [
    "extract_subgraph",
    "fuse",
    "matches_module_pattern",
    "remove_dropout",
    "replace_node_module",
]


def matches_module_pattern(pattern: Iterable[type], node: Node, modules: dict[str, Any]) -> bool:
    """Whether a node calls a module of one class with what one of another class gives.

    Args:
        pattern: the class of the first module and that of the second.
        node: the second call.
        modules: by path.
    """
    calls = [node.args[0], node] if node.args else []
    kinds = [
        type(modules.get(call.target))
        for call in calls
        if isinstance(call, Node) and call.op == "call_module"
    ]
    return bool(kinds) and kinds == [*pattern]


def replace_node_module(node: Node, modules: dict[str, Any], new_module: Any) -> None:
    """Put another module in the place of the one that a node calls, in a dict by path too."""
    path, _, name = node.target.rpartition(".")
    modules[node.target] = new_module
    setattr(modules[path], name, new_module)


def fuse(model: Any, inplace: bool = False, no_trace: bool = False) -> GraphModule:
    """Make batch normalization part of the convolution or linear layer before it.

    Args:
        model: in evaluation mode; a copy is changed unless ``inplace``.
        inplace: whether the model's own layers change.
        no_trace: whether a `GraphModule` need not be traced again.

    Example:
        >>> from torch.fx.experimental.optimization import fuse
        >>> model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)).eval()
        >>> [node.target for node in fuse(model).graph.find_nodes(op="call_module")]
        ['0']
    """
    nn = torch.nn
    fusion: Any = importlib.import_module(f"{torch.__name__}.nn.utils.fusion")
    kinds = [
        (nn.Conv1d, nn.BatchNorm1d),
        (nn.Conv2d, nn.BatchNorm2d),
        (nn.Conv3d, nn.BatchNorm3d),
        (nn.Linear, nn.BatchNorm1d),
    ]
    model = model if inplace else copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules = dict(traced.named_modules())
    graph = copy.deepcopy(traced.graph)
    for kind in kinds:
        fused_with = (
            fusion.fuse_linear_bn_eval if kind[0] is nn.Linear else fusion.fuse_conv_bn_eval
        )
        for node in graph.nodes:
            if not matches_module_pattern(kind, node, modules):
                continue
            layer, norm = node.args[0], modules[node.target]
            if len(layer.users) == 1 and norm.track_running_stats:
                replace_node_module(layer, modules, fused_with(modules[layer.target], norm))
                node.replace_all_uses_with(layer)
                graph.erase_node(node)
    return GraphModule(traced, graph)


def remove_dropout(model: Any) -> GraphModule:
    """The model without its layers of dropout."""

    class _Without(Transformer):
        def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            """What a module gives; dropout what it is given."""
            if isinstance(self.submodules[target], torch.nn.Dropout):
                return args[0]
            return super().call_module(target, args, kwargs)

    return _Without(symbolic_trace(model)).transform()


def extract_subgraph(
    orig_module: Any, nodes: list[Node], inputs: list[Node], outputs: list[Node]
) -> GraphModule:
    """A part of a graph as a module.

    Args:
        orig_module: has what the nodes use.
        nodes: the part, in order.
        inputs: nodes before it, which become arguments.
        outputs: nodes of it, whose values are returned as a list.
    """
    graph = Graph()
    copies = {node: graph.placeholder(node.name) for node in inputs}
    for node in nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.output([copies[node] for node in outputs])
    graph.lint()
    return GraphModule(orig_module, graph)
