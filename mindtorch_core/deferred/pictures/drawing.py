"""A graph as a picture: SVG, from nothing but text."""

from __future__ import annotations

import html
from typing import Final

from ...values.shapes import show
from .layout import Point, lay_out
from .nodes import Edge, Input, Listing, Node, count, printable, size

__all__ = ["GROUP_COLORS", "svg_of", "tooltip"]

# Fill of fused groups in turn; told apart also by people who see no red or no green.
GROUP_COLORS: Final = ("#cfe3f7", "#fde3b8", "#d5ead0", "#e9d7f0", "#f7d4d4", "#d0ecec")
_MARGIN: Final = 24.0
_LETTER: Final = 6.7  # width of a letter at 11 px
_LINE: Final = 15.0

_SCOPE: Final = "@"  # where the scope of a picture stands in these
_STYLE: Final = """
.mt-graph@ text { font: 11px Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1d2733 }
.mt-graph@ .name { font-weight: bold; font-size: 12px }
.mt-graph@ .note { fill: #56616e }
.mt-graph@ .flush { fill: #f7f8fa; stroke: #d3d9e0 }
.mt-graph@ .title { font: bold 12.5px Helvetica, Arial, "DejaVu Sans", sans-serif }
.mt-graph@ .op { fill: #ffffff; stroke: #5b6b7d; stroke-width: 1.2 }
.mt-graph@ .input { fill: #eceff3; stroke: #a9b4c0 }
.mt-graph@ .writes { stroke: #c2571a; stroke-width: 2.2 }
.mt-graph@ .view { stroke-dasharray: 2 3 }
.mt-graph@ .dropped { stroke-dasharray: 6 4; opacity: 0.55 }
.mt-graph@ .failed { stroke: #b3131b; stroke-width: 2.6 }
.mt-graph@ .edge { fill: none; stroke: #6b7a8c; stroke-width: 1.2; marker-end: url(#mt-arrow@) }
.mt-graph@ .order { stroke: #c2571a; stroke-dasharray: 3 3 }
""".strip()

_ARROW: Final = (
    '<defs><marker id="mt-arrow@" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
    'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#6b7a8c"/></marker></defs>'
)

_LEGEND: Final = {
    "writes": "writes in place",
    "view": "view",
    "dropped": "dropped: nobody could see its result",
    "failed": "failed",
}


def svg_of(graph: Listing, scope: str = "") -> str:
    """Draw a graph.

    Args:
        graph: what is drawn.
        scope: letters that tell it from other pictures of the same page, whose styles are not its own.
    """
    style, arrow = (text.replace(_SCOPE, scope) for text in (_STYLE, _ARROW))
    labels = {n.number: _label(n) for n in graph.nodes}
    labels |= {i.number: [i.name, f"{show(i.shape)} {i.dtype}"] for i in graph.inputs}
    sizes = {
        number: (max(map(len, lines)) * _LETTER + 18.0, len(lines) * _LINE + 9.0)
        for number, lines in labels.items()
    }
    layout = lay_out(graph, sizes)
    titles = [graph.title(i, flush) for i, flush in enumerate(graph.flushes, 1)]
    footer = _footer(graph)
    widest = max([layout.width, *(len(t) * 7.2 for t in (*titles, *footer))])
    parts: list[str] = []
    for band, title in zip(layout.bands, titles, strict=True):
        parts += [
            f'<rect class="flush" x="{-_MARGIN / 2:g}" y="{band.top:.1f}" rx="8" '
            f'width="{widest + _MARGIN:.1f}" height="{band.bottom - band.top:.1f}"/>',
            f'<text class="title" x="0" y="{band.top + 20:.1f}">{_escaped(title)}</text>',
        ]
    left = (widest - layout.width) / 2
    parts.append(f'<g transform="translate({left:.1f} 0)">')
    parts += [_edge(edge, points) for edge, points in layout.paths]
    drawn: list[Node | Input] = [*graph.inputs, *graph.nodes]
    for each in drawn:
        number = each.number
        parts.append(_box(each, labels[number], layout.boxes[number], sizes[number]))
    parts.append("</g>")
    height = layout.height
    for line in footer:
        height += _LINE + 3
        parts.append(f'<text class="note" x="0" y="{height:.1f}">{_escaped(line)}</text>')
    width, height = widest + 2 * _MARGIN, height + 2 * _MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="mt-graph{scope}" width="{width:.0f}" '
            f'height="{height:.0f}" viewBox="{-_MARGIN:g} {-_MARGIN:g} {width:.1f} {height:.1f}">',
            f"<style>{style}</style>",
            arrow,
            f'<rect x="{-_MARGIN:g}" y="{-_MARGIN:g}" width="100%" height="100%" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _escaped(text: str) -> str:
    """Text as it stands in XML."""
    return html.escape(printable(text))


def _label(node: Node) -> list[str]:
    group = f" · group {node.group}" if node.group is not None else ""
    results = [f"{show(shape)} {dtype}" for shape, dtype in node.results]
    return [node.name + group, *results[:1], *(["…"] if results[1:] else []), node.line]


def _edge(edge: Edge, points: list[Point]) -> str:
    """An edge as a curve that is vertical at its points."""
    (x, y), *rest = points
    path = [f"M{x:.1f} {y:.1f}"]
    for to_x, to_y in rest:
        if to_x == x:
            path.append(f"V{to_y:.1f}")
        else:
            middle = (y + to_y) / 2
            path.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
        x, y = to_x, to_y
    kind = "edge order" if edge.order else "edge"
    return f'<path class="{kind}" d="{" ".join(path)}"/>'


def _box(of: Node | Input, lines: list[str], at: Point, extent: tuple[float, float]) -> str:
    (x, y), (width, height) = at, extent
    if isinstance(of, Input):
        kinds, fill, text = "input", "", f"{lines[0]}: {lines[1]}, made outside"
    else:
        kinds = " ".join(["op", *(k for k in _LEGEND if getattr(of, k))])
        color = None if of.group is None else GROUP_COLORS[of.group % len(GROUP_COLORS)]
        fill = f' style="fill:{color}"' if color else ""
        text = tooltip(of)
    rounding = height / 2 if kinds == "input" else 5
    top = y - height / 2
    out = [
        f"<g><title>{_escaped(text)}</title>",
        f'<rect class="{kinds}"{fill} x="{x - width / 2:.1f}" y="{top:.1f}" '
        f'width="{width:.1f}" height="{height:.1f}" rx="{rounding:g}"/>',
    ]
    for i, line in enumerate(lines):
        kind = "name" if i == 0 else "note"
        out.append(
            f'<text class="{kind}" text-anchor="middle" x="{x:.1f}" '
            f'y="{top + (i + 1) * _LINE:.1f}">{_escaped(line)}</text>'
        )
    return "".join([*out, "</g>"])


def tooltip(node: Node) -> str:
    """Everything about an op, a line for each fact."""
    call = f"%{node.number} = {node.op}"
    if node.constants:
        call += f"({', '.join(['…', *node.constants])})"
    marks = [", ".join(node.marks)] if node.marks else []
    return "\n".join([call, f"{node.describe()}, {size(node.nbytes)}", node.location, *marks])


def _footer(graph: Listing) -> list[str]:
    """What the marks mean that occur, and how much is not shown."""
    if not len(graph):
        return [repr(graph).strip("<>")]
    meanings = {"writes": "thick orange", "view": "dotted", "dropped": "dashed", "failed": "red"}
    shown = [
        f"{meanings[k]}: {text}" for k, text in _LEGEND.items() if any(getattr(n, k) for n in graph)
    ]
    if any(e.order for e in graph.edges):
        shown.append("dashed edge: overwrites what the upper op reads")
    if any(n.group is not None for n in graph):
        shown.append("same colour: launched as one")
    lines = [", ".join(shown)] if shown else []
    if graph.left_out:
        lines.append(f"{count(graph.left_out, 'more op', 'more ops')} not shown")
    return lines
