"""``torch._dynamo.explain``: what a call of a compiled function would record, and what breaks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..deferred import Pipeline

__all__ = ["ExplainOutput", "explain"]


@dataclass
class ExplainOutput:
    """What a call recorded; a graph is what lies between two breaks.

    Attributes:
        graphs: empty: ops are recorded, there are no FX graphs.
        graph_count, graph_break_count, op_count: how many there were.
        break_reasons: what looked at values before the end, and where.
    """

    graphs: list[Any] = field(default_factory=list)
    graph_count: int = 0
    graph_break_count: int = 0
    break_reasons: list[str] = field(default_factory=list)
    op_count: int = 0

    def __str__(self) -> str:
        lines = [
            f"Graph Count: {self.graph_count}",
            f"Graph Break Count: {self.graph_break_count}",
            f"Op Count: {self.op_count}",
            "Break Reasons:",
            *[f"  Break Reason {i}: {reason}" for i, reason in enumerate(self.break_reasons, 1)],
        ]
        return "\n".join(lines)


def explain(f: Callable[..., Any], *extra_args: Any, **extra_kwargs: Any) -> Any:
    """A function that calls another one in a block, and says what that was.

    Args:
        f: the function.
        extra_args: with them or keywords, it is called at once, as in earlier versions of PyTorch.
        extra_kwargs: the same.

    Example:
        >>> found = torch._dynamo.explain(lambda x: x * 2 + 1)(torch.ones(3))
        >>> found.graph_count, found.op_count
        (1, 2)
    """
    f = getattr(f, "_torchdynamo_orig_callable", f)

    def explained(*args: Any, **kwargs: Any) -> ExplainOutput:
        with Pipeline() as pipe:
            f(*args, **kwargs)
        stats = pipe.stats()
        lines = stats["flush_lines"].items()
        reasons = [line for line, times in lines for _ in range(times)]
        breaks = [line for line in reasons if not line.startswith("end of block")]
        return ExplainOutput([], stats["flushes"], len(breaks), breaks, stats["recorded"])

    return explained(*extra_args, **extra_kwargs) if extra_args or extra_kwargs else explained
