"""Recorded ops as a graph that can be drawn.

with torch.pipeline(trace=True) as pipe:
...
print(pipe.graph)
pipe.graph.render("step.svg")
"""

from __future__ import annotations

import os
from typing import Final

from .dot import dot_of, render
from .drawing import svg_of
from .nodes import Listing

__all__ = ["Graph"]

_DRAWN_IN_NOTEBOOKS: Final = 300


class Graph(Listing):
    """What a pipeline has recorded, see `Pipeline.graph`: a listing with pictures."""

    def to_dot(self) -> str:
        """The graph in Graphviz's language, a cluster for each flush and each fused group."""
        return dot_of(self)

    def to_svg(self) -> str:
        """The graph as a picture, drawn without help of other programs."""
        return svg_of(self)

    def render(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to a file; its suffix says how.

        Args:
            path: ``.svg``, ``.png`` and ``.pdf`` are drawn by Graphviz's program ``dot`` where it is
                installed; without it, ``.svg`` is drawn as `to_svg` does. ``.dot`` and ``.gv`` get
                the text of `to_dot`.

        Raises:
            ValueError: if the suffix is another one.
            RuntimeError: if ``dot`` is needed and not installed, or fails.
        """
        render(self, path)

    def _repr_svg_(self) -> str:
        """What notebooks show: the first ops, if there are many."""
        many = len(self) > _DRAWN_IN_NOTEBOOKS
        return (self.first(_DRAWN_IN_NOTEBOOKS) if many else self).to_svg()
