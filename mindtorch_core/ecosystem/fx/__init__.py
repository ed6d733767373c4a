"""``torch.fx``: programs as graphs that are recorded, read, rewritten and run.

`symbolic_trace` calls a module or function with proxies and records what it does. The `GraphModule` that
it gives has the graph, and a ``forward`` that is written from it in Python.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from ..absent import names_of
from .wrapping import wrap

if TYPE_CHECKING:
    from ._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace
    from .graph import CodeGen, Graph
    from .graph_module import GraphModule
    from .interpreter import Interpreter, Transformer
    from .node import Node, has_side_effect, map_arg
    from .proxy import Proxy
    from .subgraph_rewriter import replace_pattern

__all__ = [
    "PH",
    "CodeGen",
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "ProxyableClassMeta",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]

# Modules are imported when they are asked for: programs that say `wrap` alone need none of them.
_HOMES: Final = {
    **dict.fromkeys(("PH", "ProxyableClassMeta", "Tracer", "symbolic_trace"), "_symbolic_trace"),
    **dict.fromkeys(("CodeGen", "Graph"), "graph"),
    "GraphModule": "graph_module",
    **dict.fromkeys(("Interpreter", "Transformer"), "interpreter"),
    **dict.fromkeys(("Node", "has_side_effect", "map_arg"), "node"),
    "Proxy": "proxy",
    "replace_pattern": "subgraph_rewriter",
}
_MODULES: Final = frozenset(
    {*_HOMES.values(), "immutable_collections", "operator_schemas", "traceback"}
)

_absent = names_of(__name__)


def _late(name: str) -> Any:
    if name in _HOMES:
        found = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = found
        return found
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    return _absent(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})


if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = _late
