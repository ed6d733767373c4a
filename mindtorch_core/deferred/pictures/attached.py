"""How pipelines are traced and drawn; what does it is loaded when somebody asks for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..context import Pipeline
from ..observers import PICTURES, Observer

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["attach"]


def _observer() -> Observer:
    from .history import Tracing

    return Tracing().new_history()


def _graph(pipe: Pipeline) -> Graph:
    from .history import graph_of

    return graph_of(pipe)


def _export(pipe: Pipeline, path: str | os.PathLike[str]) -> None:
    from .chrome_trace import export_chrome_trace

    export_chrome_trace(pipe, path)


def attach() -> None:
    """Let pipelines be traced and drawn."""
    PICTURES.observer = _observer
    PICTURES.graph = _graph
    PICTURES.export = _export
