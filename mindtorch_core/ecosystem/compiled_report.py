"""``torch._dynamo.explain``: the graphs of a function's call, and what breaks them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ExplainOutput", "explain"]


@dataclass
class ExplainOutput:
    """The graphs of a call; one lies between two breaks.

    Attributes:
        graphs: each a `torch.fx.GraphModule`, as a backend that is a function gets it.
        graph_count, graph_break_count, op_count: how many there were.
        break_reasons: what wanted values before the end, and where.
        ops_per_graph: what the calls of each graph call.
    """

    graphs: list[Any] = field(default_factory=list)
    graph_count: int = 0
    graph_break_count: int = 0
    break_reasons: list[str] = field(default_factory=list)
    op_count: int = 0
    ops_per_graph: list[list[Any]] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"Graph Count: {self.graph_count}",
            f"Graph Break Count: {self.graph_break_count}",
            f"Op Count: {self.op_count}",
            "Break Reasons:",
            *[f"  Break Reason {i}: {reason}" for i, reason in enumerate(self.break_reasons, 1)],
            "Ops per Graph:",
        ]
        for i, ops in enumerate(self.ops_per_graph, 1):
            lines += [f"  Ops {i}:", *[f"    {op}" for op in ops]]
        return "\n".join(lines)


def explain(f: Callable[..., Any], *extra_args: Any, **extra_kwargs: Any) -> Any:
    """A function that calls another one, and says which graphs that makes.

    Args:
        f: the function.
        extra_args: with them or keywords, it is called at once, as in earlier versions of PyTorch.
        extra_kwargs: the same.

    Example:
        >>> found = torch._dynamo.explain(lambda x: x * 2 + 1)(torch.ones(3))
        >>> found.graph_count, found.op_count
        (1, 2)
    """
    fn: Any = getattr(f, "_torchdynamo_orig_callable", f)
    if hasattr(fn, "__compiled__"):  # a module
        fn = fn.__call__

    def explained(*args: Any, **kwargs: Any) -> ExplainOutput:
        from .compiled_graphs import graph_call

        graphs: list[Any] = []
        reasons: list[str] = []

        def collect(graph: Any, inputs: list[Any]) -> Callable[..., Any]:
            graphs.append(graph)
            return graph.forward  # type: ignore[no-any-return]

        graph_call(fn, collect, broken=reasons.append)(*args, **kwargs)
        ops = [[n.target for n in g.graph.nodes if n.op.startswith("call_")] for g in graphs]
        return ExplainOutput(graphs, len(graphs), len(reasons), reasons, sum(map(len, ops)), ops)

    return explained(*extra_args, **extra_kwargs) if extra_args or extra_kwargs else explained
