"""Backends of ``torch.compile`` that count what they are given, for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .compiler_backends import lookup_backend

__all__ = ["CompileCounter", "CompileCounterWithBackend"]


class CompileCounter:
    """A backend that counts graphs and the calls in them, and runs them as they are.

    Attributes:
        frame_count: how many graphs.
        op_count: how many calls in them.
    """

    def __init__(self) -> None:
        self.frame_count = 0
        self.op_count = 0

    def __call__(self, gm: Any, example_inputs: Sequence[Any]) -> Callable[..., Any]:
        """Count a graph."""
        self.frame_count += 1
        self.op_count += sum("call" in node.op for node in gm.graph.nodes)
        return gm.forward  # type: ignore[no-any-return]

    def clear(self) -> None:
        """Begin anew."""
        self.frame_count = 0
        self.op_count = 0


class CompileCounterWithBackend(CompileCounter):
    """The same, which keeps the graphs and leaves them to another backend.

    Attributes:
        backend: the name of that.
        graphs: what was given.
    """

    def __init__(self, backend: str) -> None:
        super().__init__()
        self.backend = backend
        self.graphs: list[Any] = []

    def __call__(self, gm: Any, example_inputs: Sequence[Any]) -> Callable[..., Any]:
        """Count a graph."""
        super().__call__(gm, example_inputs)
        self.graphs.append(gm)
        return lookup_backend(self.backend)(gm, example_inputs)

    def clear(self) -> None:
        """Begin anew."""
        super().clear()
        self.graphs = []
