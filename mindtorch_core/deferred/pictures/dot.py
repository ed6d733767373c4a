"""A graph in Graphviz's language, and pictures drawn by Graphviz where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from ...values.shapes import show
from .drawing import GROUP_COLORS, svg_of, tooltip
from .nodes import Flush, Listing, Node, printable

__all__ = ["check_suffix", "dot_of", "render"]

_DRAWN_BY_DOT: Final = (".svg", ".png", ".pdf")
_TEXT: Final = (".dot", ".gv")

_HEAD: Final = """digraph pipeline {
  graph [fontname="Helvetica", fontsize=12, labeljust=l, style="rounded,filled", color="#d3d9e0"];
  node [fontname="Helvetica", fontsize=10, shape=box, style="filled", fillcolor=white];
  edge [color="#6b7a8c", arrowsize=0.6];"""


def dot_of(graph: Listing) -> str:
    """The graph as a ``digraph``: a cluster for each flush, in it one for each fused group."""
    lines = [_HEAD]
    for i, flush in enumerate(graph.flushes):
        lines += [
            f"  subgraph cluster_{i + 1} {{",
            f'    label={_quoted(graph.title(i + 1, flush))}; fillcolor="#f7f8fa";',
        ]
        for each in graph.inputs:
            if each.flush == i:
                label = f"{each.name}\n{show(each.shape)} {each.dtype}"
                lines.append(
                    f"    in{-each.number} [label={_quoted(label)}, shape=oval, "
                    f'fillcolor="#eceff3", color="#a9b4c0"];'
                )
        lines += [*_members(flush), "  }"]
    for edge in graph.edges:
        style = ' [style=dashed, color="#c2571a"]' if edge.order else ""
        lines.append(f"  {_name(edge.source)} -> {_name(edge.target)}{style};")
    return "\n".join([*lines, "}\n"])


def _members(flush: Flush) -> list[str]:
    groups: dict[int | None, list[str]] = {}
    for node in flush.nodes:
        groups.setdefault(node.group, []).append(_node(node))
    lines = [f"    {line}" for line in groups.pop(None, [])]
    for number, members in groups.items():
        color = GROUP_COLORS[(number or 0) % len(GROUP_COLORS)]
        lines += [
            f"    subgraph cluster_group_{number} {{",
            f'      label="group {number}"; fillcolor="{color}";',
            *(f"      {line}" for line in members),
            "    }",
        ]
    return lines


def _node(node: Node) -> str:
    label = "\n".join([node.name, node.describe(), node.line])
    options = [f"label={_quoted(label)}", f"tooltip={_quoted(tooltip(node))}"]
    styles = ["filled"]
    if node.writes:
        options += ['color="#c2571a"', "penwidth=2"]
    if node.failed:
        options += ['color="#b3131b"', "penwidth=2.5"]
    if node.view:
        styles.append("dotted")
    if node.dropped:
        styles.append("dashed")
        options.append('fontcolor="#8a94a0"')
    return f'{_name(node.number)} [{", ".join(options)}, style="{",".join(styles)}"];'


def _name(number: int) -> str:
    return f"op{number}" if number >= 0 else f"in{-number}"


def _quoted(text: str) -> str:
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def check_suffix(path: str | os.PathLike[str]) -> str:
    """The suffix of a file that a graph can be written to.

    Raises:
        ValueError: if the suffix is none of those that are known.
        RuntimeError: if drawing it needs the program ``dot``, which is not installed.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (*_DRAWN_BY_DOT, *_TEXT):
        raise ValueError(
            f"cannot draw a graph to {os.fspath(path)!r}: the name must end in "
            f"{', '.join((*_DRAWN_BY_DOT, _TEXT[0]))} or {_TEXT[1]}"
        )
    if suffix in (".png", ".pdf") and shutil.which("dot") is None:
        raise RuntimeError(
            f"drawing a graph as {suffix} needs Graphviz's program 'dot', which is not on the PATH. "
            f"Install Graphviz, or name a file that ends in .svg"
        )
    return suffix


def render(graph: Listing, path: str | os.PathLike[str]) -> None:
    """Write a picture of a graph, or its text; see `Graph.render`."""
    suffix = check_suffix(path)
    target = Path(path)
    dot = shutil.which("dot")
    if suffix in _TEXT:
        target.write_text(dot_of(graph), encoding="utf-8")
    elif dot is not None:
        _drawn_by(dot, graph, target, suffix)
    else:
        target.write_text(svg_of(graph), encoding="utf-8")


def _drawn_by(dot: str, graph: Listing, target: Path, suffix: str) -> None:
    done = subprocess.run(
        [dot, f"-T{suffix[1:]}"], input=dot_of(graph).encode(), capture_output=True, check=False
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise RuntimeError(f"{dot} failed with status {done.returncode}: {said}")
    target.write_bytes(done.stdout)
