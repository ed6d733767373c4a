"""Edges of a drawn graph cross as little as they must."""

import itertools
import random
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

import mindtorch_core as torch
from mindtorch_core.deferred.pictures import layout

PATH = "{http://www.w3.org/2000/svg}path"


def ends_of_edges(graph):
    """Where each edge begins, and the x at which it ends."""
    found = []
    for path in ElementTree.fromstring(graph.to_svg()).iter(PATH):
        if "edge" in path.get("class", ""):
            steps = re.findall(r"[MC][^MCV]*", path.get("d"))  # V goes straight down
            first, last = (
                [float(v) for v in re.findall(r"-?[\d.]+", s)] for s in (steps[0], steps[-1])
            )
            found.append((*first[:2], last[-2]))
    return found


def crossings(edges):
    """Of edges that begin in one row."""
    return sum(
        top == other_top and (a - c) * (b - d) < 0
        for (a, top, b), (c, other_top, d) in itertools.combinations(edges, 2)
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("pairs", [2, 3, 5])
def test_sums_of_pairs_that_are_recorded_in_any_order_are_untangled(pairs, seed):
    rng = random.Random(seed)
    with torch.pipeline() as pipe:
        terms = [(torch.ones(2) + i).sin() for i in range(2 * pairs)]
        rng.shuffle(terms)
        kept = [a + b for a, b in zip(terms[::2], terms[1::2], strict=True)]
        graph = pipe.graph
    assert len(kept) == pairs
    edges = ends_of_edges(graph)
    assert len(edges) == 6 * pairs
    assert crossings(edges) == 0


@pytest.mark.parametrize("seed", range(20))
def test_crossings_are_counted(seed):
    rng = random.Random(seed)
    above, below = [list(range(k, k + rng.randint(1, 7))) for k in (0, 100)]
    edges = [(a, b) for a in above for b in below if rng.random() < 0.4]
    rng.shuffle(above)
    rng.shuffle(below)
    net = SimpleNamespace(down={a: [b for x, b in edges if x == a] for a in above})
    pairs = itertools.combinations([(above.index(a), below.index(b)) for a, b in edges], 2)
    expected = sum((a - c) * (b - d) < 0 for (a, b), (c, d) in pairs)
    assert layout._crossings(above, below, net) == expected


@pytest.mark.parametrize("wide", [0, 39, 79])
def test_long_chains_are_straight(wide):
    """What one layer wants, all layers know after one sweep in each direction."""
    order = [[2 * i, 2 * i + 1] for i in range(80)]
    up = {v: [v - 2] if v > 1 else [] for layer in order for v in layer}
    down = {v: [v + 2] if v < 158 else [] for v in up}
    widths = {v: 400.0 if v // 2 == wide else 10.0 for v in up}
    x = layout._columns(SimpleNamespace(up=up, down=down), order, widths)
    for chain in (0, 1):
        assert [x[layer[chain]] for layer in order] == pytest.approx([x[chain]] * 80)
