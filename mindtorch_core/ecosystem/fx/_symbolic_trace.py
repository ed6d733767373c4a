"""`symbolic_trace`: a module or function as a `GraphModule`."""

from __future__ import annotations

import functools  # noqa: F401  (libraries that trace in their own way take it from here)
from types import FunctionType  # noqa: F401  (likewise)
from typing import Any, Final

import mindtorch_core as torch

from .._C import ScriptObject  # noqa: F401  (likewise)
from ..absent import names_of
from ._compatibility import compatibility  # noqa: F401  (likewise)
from .graph import Graph  # noqa: F401  (likewise)
from .graph_module import GraphModule
from .node import map_aggregate  # noqa: F401  (likewise)
from .proxy import Proxy, TracerBase  # noqa: F401  (likewise)
from .root_arguments import PH, PHBase, PHWithMeta, _assert_is_none
from .tracer import ProxyableClassMeta, Tracer, is_fx_tracing
from .wrapping import Patcher as _Patcher
from .wrapping import _autowrap_check, _patch_wrapped_functions, wrap

__all__ = [
    "PH",
    "PHBase",
    "PHWithMeta",
    "ProxyableClassMeta",
    "Tracer",
    "_Patcher",
    "_assert_is_none",
    "_autowrap_check",
    "_patch_wrapped_functions",
    "is_fx_symbolic_tracing",
    "is_fx_tracing",
    "symbolic_trace",
    "wrap",
]

__getattr__ = names_of(__name__)

is_fx_symbolic_tracing = is_fx_tracing
_orig_module_call: Final = torch.nn.Module.__call__
_orig_module_getattr: Final = torch.nn.Module.__getattr__


def symbolic_trace(root: Any, concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """Record what a module or function does, as a module whose graph can be read and rewritten.

    It is called with proxies in the place of its arguments, so no branch may depend on their values.

    Args:
        root: the module or function.
        concrete_args: values of arguments by name, which stay as they are. Containers of values may hold
            ``torch.fx.PH`` where a value is to be an argument.

    Raises:
        TraceError: for a branch or a loop over values that are not known.

    Example:
        >>> traced = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
        >>> [(node.op, node.name) for node in traced.graph.nodes]
        [('placeholder', 'x'), ('call_function', 'relu'), ('call_function', 'add'), ('output', 'output')]
        >>> traced(torch.tensor([-1.0, 2.0]))
        tensor([1., 3.])
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    is_module = isinstance(root, torch.nn.Module)
    return GraphModule(tracer.root, graph, type(root).__name__ if is_module else root.__name__)
