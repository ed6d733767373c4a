"""Where the boxes and edges of a drawn graph lie: a layered layout.

Every op lies below what it depends on. Boxes of a layer are ordered so that edges cross little, and
then moved towards their neighbours. An edge over several layers gets a point in each; edges of one
source share them.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from .nodes import Edge, Listing

__all__ = ["Band", "Layout", "lay_out"]

GAP: Final = 18.0  # between boxes of a layer
STEP: Final = 34.0  # between layers
HEADING: Final = 44.0  # above the layers of a flush
_POINT: Final = 8.0  # width of an edge's point in a layer
_SWEEPS: Final = 8
_PULLS: Final = 24

Size = tuple[float, float]
Point = tuple[float, float]


class Band(NamedTuple):
    """The part of the drawing that shows one flush."""

    top: float
    bottom: float


class Layout(NamedTuple):
    """A finished layout.

    Attributes:
        boxes: centre of each op and input, by number.
        paths: for each edge, the points it goes through. Two that follow each other with the same
            x are the upper and lower end of a layer it passes.
        bands: one for each flush.
        width, height: of everything.
    """

    boxes: dict[int, Point]
    paths: list[tuple[Edge, list[Point]]]
    bands: list[Band]
    width: float
    height: float


def lay_out(graph: Listing, sizes: Mapping[int, Size]) -> Layout:
    """Lay out a graph.

    Args:
        graph: what to draw.
        sizes: width and height of the box of each op and input, by number.
    """
    layer_of, ends = _layers(graph)
    net = _Net(graph.edges, layer_of)
    order = _ordered(net)
    width_of = {v: sizes[v][0] if isinstance(v, int) else _POINT for v in net.layer_of}
    x = _columns(net, order, width_of)
    left = min((x[v] - width_of[v] / 2 for v in x), default=0.0)
    tops, heights, bands = _rows(order, sizes, ends)
    boxes = {
        v: (x[v] - left, tops[i] + heights[i] / 2) for v, i in net.layer_of.items()
        if isinstance(v, int)
    }  # fmt: skip
    paths: list[tuple[Edge, list[Point]]] = []
    for edge, through in net.chains:
        (x0, y0), (x1, y1) = boxes[edge.source], boxes[edge.target]
        points = [(x0, y0 + sizes[edge.source][1] / 2)]
        for v in through:
            i, at = net.layer_of[v], x[v] - left
            points += [(at, tops[i]), (at, tops[i] + heights[i])]
        paths.append((edge, [*points, (x1, y1 - sizes[edge.target][1] / 2)]))
    right = max((x[v] + width_of[v] / 2 for v in x), default=0.0)
    return Layout(boxes, paths, bands, right - left, bands[-1].bottom if bands else 0.0)


def _layers(graph: Listing) -> tuple[dict[int, int], list[int]]:
    """The layer of each op and input, and the layer after the last one of each flush."""
    sources: dict[int, list[int]] = {}
    targets: dict[int, list[int]] = {}
    for edge in graph.edges:
        sources.setdefault(edge.target, []).append(edge.source)
        targets.setdefault(edge.source, []).append(edge.target)
    layer_of: dict[int, int] = {}
    fed = {i.flush for i in graph.inputs}
    ends: list[int] = []
    first = 0
    for i, flush in enumerate(graph.flushes):
        lowest = first + (i in fed)
        for node in flush.nodes:
            above = [layer_of[s] for s in sources.get(node.number, ()) if s >= 0]
            layer_of[node.number] = max([lowest - 1, *above]) + 1
        first = max(layer_of[n.number] for n in flush.nodes) + 1
        ends.append(first)
        for node in reversed(flush.nodes):  # what depends on nothing goes to what needs it
            below = [layer_of[t] for t in targets.get(node.number, ()) if t in layer_of]
            if below and not any(s >= 0 for s in sources.get(node.number, ())):
                layer_of[node.number] = min(below) - 1
    for edge in graph.edges:
        if edge.source < 0:
            latest = layer_of[edge.target] - 1
            layer_of[edge.source] = min(layer_of.get(edge.source, latest), latest)
    return layer_of, ends


class _Net:
    """The graph with a point in each layer that an edge passes.

    Attributes:
        layer_of: layer of each vertex: a number, or a point, which is a tuple.
        chains: for each edge, the points it goes through.
        up, down: neighbours in the layer above and below.
    """

    def __init__(self, edges: Sequence[Edge], layer_of: Mapping[int, int]) -> None:
        self.layer_of: dict[Hashable, int] = dict(layer_of.items())
        self.chains: list[tuple[Edge, list[Hashable]]] = []
        self.up: dict[Hashable, list[Hashable]] = {v: [] for v in layer_of}
        self.down: dict[Hashable, list[Hashable]] = {v: [] for v in layer_of}
        joined: set[tuple[Hashable, Hashable]] = set()
        for edge in edges:
            through: list[Hashable] = []
            previous: Hashable = edge.source
            for i in range(layer_of[edge.source] + 1, layer_of[edge.target]):
                point = (edge.source, i, edge.order)
                if point not in self.layer_of:
                    self.layer_of[point] = i
                    self.up[point], self.down[point] = [], []
                through.append(point)
            for v in (*through, edge.target):
                if (previous, v) not in joined:
                    joined.add((previous, v))
                    self.down[previous].append(v)
                    self.up[v].append(previous)
                previous = v
            self.chains.append((edge, through))


def _ordered(net: _Net) -> list[list[Hashable]]:
    """The vertices of each layer from left to right, with few crossings."""
    order: list[list[Hashable]] = [[] for _ in range(max(net.layer_of.values(), default=-1) + 1)]
    for v, i in net.layer_of.items():
        order[i].append(v)
    best, fewest = order, None
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        near = net.up if downwards else net.down
        place: dict[Hashable, float] = {}
        new: list[list[Hashable]] = []
        for layer in order if downwards else reversed(order):
            own = {v: float(i) for i, v in enumerate(layer)}
            wish = {v: _mean([place[n] for n in near[v]], own[v]) for v in layer}
            layer = sorted(layer, key=wish.__getitem__)
            place.update((v, i) for i, v in enumerate(layer))
            new.append(layer)
        order = new if downwards else new[::-1]
        found = sum(_crossings(a, b, net) for a, b in pairwise(order))
        if fewest is None or found < fewest:
            best, fewest = order, found
    return best


def _crossings(above: list[Hashable], below: list[Hashable], net: _Net) -> int:
    place = {v: i for i, v in enumerate(below)}
    seen: list[int] = []
    found = 0
    for v in above:
        ends = sorted(place[n] for n in net.down[v])
        found += sum(len(seen) - bisect_right(seen, e) for e in ends)
        for e in ends:
            insort(seen, e)
    return found


def _columns(
    net: _Net, order: list[list[Hashable]], width_of: Mapping[Any, float]
) -> dict[Hashable, float]:
    """The x of each vertex: near its neighbours, without overlaps."""
    x: dict[Hashable, float] = {}
    for layer in order:
        at = 0.0
        for v in layer:
            x[v] = at + width_of[v] / 2
            at += width_of[v] + GAP
    for sweep in range(_PULLS):
        layers = order if sweep % 2 == 0 else order[::-1]
        for layer in layers:
            wishes: list[float] = []
            for v in layer:
                near = net.up[v] if sweep % 2 == 0 else net.down[v]
                if sweep >= _PULLS // 3:
                    near = net.up[v] + net.down[v]
                wishes.append(_mean([x[n] for n in near], x[v]))
            weights = [1.0 if isinstance(v, int) else 4.0 for v in layer]
            x.update(zip(layer, _apart(wishes, [width_of[v] for v in layer], weights), strict=True))
    return x


def _apart(wishes: list[float], widths: list[float], weights: list[float]) -> list[float]:
    """Positions in the given order, without overlaps, with least squared distance to the wishes.

    It is isotonic regression: what would overlap moves as one block, to the mean of its wishes.
    """
    shift: list[float] = []
    at = 0.0
    for i, width in enumerate(widths):
        at += (widths[i - 1] + width) / 2 + GAP if i else 0.0
        shift.append(at)
    blocks: list[tuple[float, float, int]] = []  # mean, weight, members
    for wish, by, weight in zip(wishes, shift, weights, strict=True):
        mean, total, members = wish - by, weight, 1
        while blocks and blocks[-1][0] > mean:
            other, more, count = blocks.pop()
            mean = (mean * total + other * more) / (total + more)
            total, members = total + more, members + count
        blocks.append((mean, total, members))
    means = [mean for mean, _, members in blocks for _ in range(members)]
    return [mean + by for mean, by in zip(means, shift, strict=True)]


def _rows(
    order: list[list[Hashable]], sizes: Mapping[int, Size], ends: list[int]
) -> tuple[list[float], list[float], list[Band]]:
    """Top and height of each layer, and the bands."""
    tops: list[float] = []
    heights: list[float] = []
    bands: list[Band] = []
    y = 0.0
    begin = y
    for i, layer in enumerate(order):
        if not i or i in ends:
            begin = y
            y += HEADING
        tops.append(y)
        heights.append(max((sizes[v][1] for v in layer if isinstance(v, int)), default=0.0))
        y += heights[-1] + STEP
        if i + 1 in ends:
            bands.append(Band(begin, y - STEP / 2))
            y += STEP / 2
    return tops, heights, bands


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
