"""`Pipeline.graph`: which ops were recorded, what depends on what, and how it looks."""

import gc
import itertools
import os
import random
import re
import stat
import weakref
from pathlib import Path
from xml.dom import minidom
from xml.etree import ElementTree

import pytest

import mindtorch_core as torch
from mindtorch_core.deferred.pictures import layout
from mindtorch_core.dispatch.dispatcher import dispatch
from mindtorch_core.dispatch.registry import registry

SVG = "{http://www.w3.org/2000/svg}"


def named(graph, name):
    (node,) = [n for n in graph if n.name == name]
    return node


def pairs(graph, *, order=False):
    """Edges between ops, by name."""
    names = {n.number: n.name for n in graph} | {i.number: i.name for i in graph.inputs}
    return {(names[e.source], names[e.target]) for e in graph.edges if e.order == order}


# ---- what it holds -----------------------------------------------------------------------------


def test_inside_the_block_it_shows_what_is_pending():
    x = torch.ones(2, 3)
    with torch.pipeline() as pipe:
        assert len(pipe.graph) == 0
        y = (x * 2).relu()
        graph = pipe.graph
        y.tolist()
        assert len(pipe.graph) == 0
    assert [n.op for n in graph] == ["aten::mul", "aten::relu"]
    assert graph.flushes[0].reason is None
    mul = graph.nodes[0]
    assert (mul.shape, mul.dtype, mul.nbytes) == ((2, 3), "float32", 24)
    assert mul.constants == ("2",)
    assert (mul.writes, mul.view, mul.dropped, mul.group) == (False, False, False, None)
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    file, _, line = mul.location.rpartition(":")
    assert file == __file__
    assert "y = (x * 2).relu()" in source[int(line) - 1]
    assert [(i.shape, i.dtype) for i in graph.inputs] == [((2, 3), "float32")]
    assert pairs(graph) == {("in1", "mul"), ("mul", "relu")}


def test_without_a_trace_it_forgets_what_was_launched():
    with torch.pipeline() as pipe:
        torch.ones(2) + 1
    assert len(pipe.graph) == 0
    assert "trace=True" in repr(pipe.graph)


def test_with_a_trace_it_shows_every_flush():
    with torch.pipeline(trace=True) as pipe:
        x = torch.ones(2) + 1
        y = x * 2
        y.tolist()
        z = y.exp()
        assert [f.reason for f in pipe.graph.flushes] == ["tolist()", None]
        assert ("mul", "exp") in pairs(pipe.graph)
    graph = pipe.graph
    assert z.shape == (2,)
    assert [f.reason for f in graph.flushes] == ["tolist()", "end of block"]
    assert [[n.name for n in f.nodes] for f in graph.flushes] == [["ones", "add", "mul"], ["exp"]]
    assert pairs(graph) == {("ones", "add"), ("add", "mul"), ("mul", "exp")}
    assert graph.inputs == []


def test_looking_while_recording_does_not_count_ops_twice():
    with torch.pipeline(trace=True) as pipe:
        x = torch.ones(2) + 1
        first = [n.number for n in pipe.graph]
        x = x * 2
        assert [n.number for n in pipe.graph][:2] == first
    assert [n.number for n in pipe.graph] == [0, 1, 2]


def test_views_and_writes_make_edges_through_memory():
    x = torch.ones(2, 3)
    with torch.pipeline(trace=True) as pipe:
        row = x[0]
        before = x.exp()
        x.add_(1)
        after = row * 2
    assert (before.shape, after.tolist()) == ((2, 3), [4, 4, 4])
    graph = pipe.graph
    assert named(graph, "select").view
    assert named(graph, "add_").writes
    assert {("select", "mul"), ("add_", "mul")} <= pairs(graph)
    assert ("exp", "add_") not in pairs(graph)
    assert pairs(graph, order=True) == {("exp", "add_")}


def test_fused_and_dropped_ops_are_marked():
    x = torch.ones(512, 512)
    with torch.pipeline(trace=True) as pipe:
        y = (x * 2).relu() + 1
        unseen = y.exp()
        del unseen
        small = torch.ones(3).sin()
    graph, stats = pipe.graph, pipe.stats()
    assert small.shape == (3,)
    assert {n.name for n in graph if n.group is not None} == {"mul", "relu", "add"}
    assert (stats["fused_groups"], stats["fused_ops"]) == (1, 3)
    assert [n.name for n in graph if n.dropped] == ["exp"]
    assert "3 fused into 1 group, 1 dropped" in repr(graph)


def test_what_failed_is_marked_with_what_depends_on_it():
    kept = []

    def program():
        kept.append((torch.tensor([1, 2]) // torch.tensor([0, 1])) + 1)
        kept.append(torch.ones(2) * 3)

    with pytest.raises(torch.PipelineError), torch.pipeline(trace=True) as pipe:
        program()
    assert kept[1].tolist() == [3, 3]
    assert {n.name for n in pipe.graph if n.failed} == {"floor_divide", "add"}


def test_an_op_with_several_results():
    x = torch.ones(2)
    with registry.scope():
        registry.register(
            "graph_test::pair", "cpu", lambda t: (t + 1, t > 0), meta=lambda t: (t, t > 0)
        )
        with torch.pipeline(trace=True) as pipe:
            more, positive = dispatch("graph_test::pair", None, x)
            both = more * positive
    node = named(pipe.graph, "graph_test::pair")
    assert node.results == (((2,), "float32"), ((2,), "bool"))
    assert node.nbytes == 8 + 2
    assert [u.sources for u in named(pipe.graph, "mul").reads] == [(node.number,)] * 2
    assert both.tolist() == [2, 2]
    assert "[2] float32, [2] bool" in repr(pipe.graph)


def test_it_keeps_nothing_alive():
    with torch.pipeline(trace=True) as pipe:
        x = torch.ones(4)
        y = x * 2
        inside = pipe.graph
        watched = [weakref.ref(x), weakref.ref(y), weakref.ref(y.untyped_storage())]
        del x, y
    after = pipe.graph
    gc.collect()
    assert [r() for r in watched] == [None] * 3
    assert len(inside) == len(after) == 2


def test_ids_that_return_are_told_apart():
    with torch.pipeline(trace=True) as pipe:
        for i in range(20):
            x = torch.full((3,), float(i))
            (x * 2).tolist()
            del x
    assert pairs(pipe.graph) == {("full", "mul")}
    assert len(pipe.graph.edges) == 20


# ---- reading it --------------------------------------------------------------------------------


def test_the_listing():
    x, w = torch.ones(2, 3), torch.ones(3, 4)
    with torch.pipeline(trace=True) as pipe:
        y = (x @ w).relu()
        y.mul_(0.5)
    lines = re.sub(r"test_graph.py:\d+", "test_graph.py:N", repr(pipe.graph)).splitlines()
    assert lines == [
        "Graph of 3 ops in 1 cluster",
        "flush 1, end of block: 3 ops",
        "  %0 = matmul(in1, in2)  [2, 4] float32  32 B  test_graph.py:N",
        "  %1 = relu(%0)          [2, 4] float32  32 B  test_graph.py:N",
        "  %2 = mul_(%1, 0.5)     [2, 4] float32  32 B  test_graph.py:N  in place",
    ]


def many(count):
    with torch.pipeline(trace=True) as pipe:
        x = torch.ones(2)
        for _ in range(count - 1):
            x = x + 1
    assert x.tolist() == [count, count]
    return pipe.graph


def test_long_graphs_are_cut_short():
    graph = many(450)
    assert len(repr(graph).splitlines()) < 50
    assert repr(graph).endswith("... and 410 more ops")
    first = graph.first(10)
    assert ([n.number for n in first], first.left_out) == (list(range(10)), 440)
    assert "440 more ops not shown" in first.to_svg()
    assert "150 more ops not shown" in graph._repr_svg_()
    assert graph.first(1000).left_out == 0
    assert "not shown" not in many(5)._repr_svg_()


# ---- drawing it --------------------------------------------------------------------------------


def a_program(seed):
    """The graph of a random program: ops, views, writes, and some flushes."""
    rng = random.Random(seed)
    with torch.pipeline(trace=True) as pipe:
        known = [torch.ones(2, 2) for _ in range(3)]
        for _ in range(60):
            a, b = rng.choice(known[-12:]), rng.choice(known)
            kind = rng.random()
            if kind < 0.1:
                a.mul_(0.5)
            elif kind < 0.25:
                known.append(a.t())
            elif kind < 0.3:
                a.tolist()
            else:
                known.append(rng.choice([torch.add, torch.mul, torch.maximum])(a, b))
    return pipe.graph


def boxes_of(svg):
    return [
        [float(box.get(k)) for k in ("x", "y", "width", "height")]
        for box in svg.iter(f"{SVG}rect")
        if box.get("class", "").split(" ")[0] in ("op", "input")
    ]


@pytest.mark.parametrize("seed", range(6))
def test_the_picture_has_no_overlaps_and_goes_downwards(seed):
    graph = a_program(seed)
    svg = ElementTree.fromstring(graph.to_svg())
    boxes = boxes_of(svg)
    assert len(boxes) == len(graph) + len(graph.inputs)
    for i, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, other_width, other_height in boxes[:i]:
            apart = (
                x >= other_x + other_width or other_x >= x + width
                or y >= other_y + other_height or other_y >= y + height
            )  # fmt: skip
            assert apart
    edges = [p.get("d") for p in svg.iter(f"{SVG}path") if "edge" in p.get("class", "")]
    assert len(edges) == len(graph.edges)
    tops = {(round(x + width / 2, 1), round(y, 1)) for x, y, width, _ in boxes}
    for path in edges:
        steps = [
            [float(v) for v in re.findall(r"-?[\d.]+", p)] for p in re.findall("[MCV][^MCV]*", path)
        ]
        assert all(a[-1] <= b[-1] for a, b in itertools.pairwise(steps))
        x = next(s[-2] for s in reversed(steps) if len(s) > 1)
        assert min(abs(x - tx) + abs(steps[-1][-1] - ty) for tx, ty in tops) < 0.5
    bands = [r for r in svg.iter(f"{SVG}rect") if r.get("class") == "flush"]
    assert len(bands) == len(graph.flushes)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_an_op_stands_amid_those_that_depend_on_it(count):
    with torch.pipeline() as pipe:
        y = torch.ones(2).sin()
        kept = [y + i for i in range(count)]
        graph = pipe.graph
    rows = {}
    for x, top, width, _ in boxes_of(ElementTree.fromstring(graph.to_svg())):
        rows.setdefault(top, []).append(x + width / 2)
    (x,), below = (rows[top] for top in sorted(rows)[-2:])
    assert len(below) == len(kept)
    assert (min(below) + max(below)) / 2 == pytest.approx(x, abs=1)
    assert sum(below) / count == pytest.approx(x, abs=1)


@pytest.mark.parametrize("seed", range(5))
def test_boxes_are_moved_apart_by_isotonic_regression(seed):
    optimize = pytest.importorskip("scipy.optimize")
    rng = random.Random(seed)
    count = rng.randint(2, 30)
    wishes = [rng.gauss(0, 300) for _ in range(count)]
    widths = [rng.uniform(8, 200) for _ in range(count)]
    weights = [rng.choice([1.0, 4.0]) for _ in range(count)]
    apart = [(a + b) / 2 + layout.GAP for a, b in itertools.pairwise(widths)]
    least = [0.0, *itertools.accumulate(apart)]
    free = [wish - by for wish, by in zip(wishes, least, strict=True)]
    best = optimize.isotonic_regression(free, weights=weights).x + least
    assert layout._apart(wishes, widths, weights) == pytest.approx(best)


def test_flushes_are_as_far_apart_as_ops_that_follow_each_other():
    x = torch.ones(2)
    with torch.pipeline(trace=True) as pipe:
        for _ in range(3):
            x = x.sin().cos()
            x.tolist()
    svg = ElementTree.fromstring(pipe.graph.to_svg())
    ops = sorted(boxes_of(svg), key=lambda box: box[1])[1:]
    steps = {round(b[1] - a[1] - a[3], 1) for a, b in zip(ops[::2], ops[1::2], strict=True)}
    bands = sorted(
        [float(r.get("y")), float(r.get("height"))]
        for r in svg.iter(f"{SVG}rect") if r.get("class") == "flush"
    )  # fmt: skip
    assert {round(b[0] - a[0] - a[1], 1) for a, b in itertools.pairwise(bands)} == steps


def test_the_picture_says_everything_as_text():
    x = torch.ones(512, 512)
    with torch.pipeline(trace=True) as pipe:
        y = (x < 2).float()
        y.mul_(2)
    text = pipe.graph.to_svg()
    ElementTree.fromstring(text)
    for part in (
        "lt · group 1",
        "[512, 512] bool",
        "test_graph.py:",
        "256 KiB",
        "in place",
        __file__,
    ):
        assert part in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def legend(graph):
    """The lines below a picture."""
    svg = ElementTree.fromstring(graph.to_svg())
    texts = [t for t in svg.findall(f"{SVG}text") if t.get("class") == "note"]
    lowest = max(y + height for _, y, _, height in boxes_of(svg))
    assert all(float(t.get("y")) > lowest for t in texts)
    return [t.text for t in texts]


def test_the_legend_explains_the_marks_that_occur_and_no_others():
    x = torch.ones(512, 512)
    with torch.pipeline(trace=True) as pipe:
        kept = (x[0] + 1).tolist()
    assert (kept[0], legend(pipe.graph)) == (2, ["dotted: view"])
    small = torch.ones(3)
    with torch.pipeline(trace=True) as pipe:
        y = small.exp()
        small.add_(1)
    assert y.shape == (3,)
    assert legend(pipe.graph) == [
        "thick orange: writes in place, dashed edge: overwrites what the upper op reads"
    ]
    with torch.pipeline(trace=True) as pipe:
        y = (x * 2).relu()
        unseen = y.exp()
        del unseen
    assert legend(pipe.graph) == [
        "dashed: dropped: nobody could see its result, same colour: launched as one"
    ]
    kept = []
    with pytest.raises(torch.PipelineError), torch.pipeline(trace=True) as pipe:
        kept.append(torch.tensor([1, 2]) // torch.tensor([0, 1]))
    assert legend(pipe.graph) == ["red: failed"]


def test_no_legend_where_nothing_is_marked():
    graph = many(3)
    assert legend(graph.first(3)) == []
    assert legend(graph.first(2)) == ["1 more op not shown"]
    assert legend(many(4).first(2)) == ["2 more ops not shown"]


def test_marks_are_drawn_as_the_legend_says():
    """What a line of the legend names is how the boxes of such ops look."""
    x = torch.ones(512, 512)
    with torch.pipeline(trace=True) as pipe:
        y = (x[0] * 2).relu()
        y.add_(1)
        unseen = y.exp()
        del unseen
    text = pipe.graph.to_svg()
    svg = ElementTree.fromstring(text)
    kinds = [
        set(r.get("class").split()[1:])
        for r in svg.iter(f"{SVG}rect")
        if "op" in (r.get("class") or "").split()
    ]
    for mark in ("view", "writes", "dropped"):
        assert sum(mark in k for k in kinds) == sum(getattr(n, mark) for n in pipe.graph) == 1
    style = svg.find(f"{SVG}style").text
    looks = dict(re.findall(r"\.mt-graph \.(\w+) \{ (.*) \}", style))
    assert "stroke: #c2571a; stroke-width: 2.2" in looks["writes"]  # thick orange
    assert "stroke-dasharray: 2 3" in looks["view"]  # dotted
    assert "stroke-dasharray: 6 4" in looks["dropped"]  # dashed
    assert "stroke: #b3131b" in looks["failed"]  # red
    assert "stroke-dasharray" in looks["order"]


def test_an_empty_graph_can_be_drawn():
    with torch.pipeline() as pipe:
        pass
    assert "trace=True" in "".join(ElementTree.fromstring(pipe.graph.to_svg()).itertext())
    assert pipe.graph.to_dot().startswith("digraph")


def test_the_text_for_graphviz():
    x = torch.ones(512, 512)
    with torch.pipeline(trace=True) as pipe:
        y = (x * 2).relu()
        torch.full((2,), 1.0, dtype=torch.float32).tolist()
        y.add_(1)
    graph = pipe.graph
    text = graph.to_dot()
    assert text.count("{") == text.count("}")
    assert len(re.findall(r"^ *op\d+ \[", text, re.M)) == len(graph)
    assert len(re.findall(r" -> ", text)) == len(graph.edges)
    assert set(re.findall(r"subgraph (\w+)", text)) == {
        "cluster_1", "cluster_2", "cluster_group_1"
    }  # fmt: skip
    assert text.count('"') - text.count('\\"') == 2 * len(re.findall(r'="(?:[^"\\]|\\.)*"', text))


# ---- writing it --------------------------------------------------------------------------------


def a_graph():
    with torch.pipeline(trace=True) as pipe:
        torch.ones(2) + 1
    return pipe.graph


def test_without_graphviz_svg_is_drawn_here(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    graph = a_graph()
    graph.render(tmp_path / "g.svg")
    assert (tmp_path / "g.svg").read_text("utf-8") == graph.to_svg()
    graph.render(str(tmp_path / "g.dot"))
    assert (tmp_path / "g.dot").read_text("utf-8") == graph.to_dot()
    with pytest.raises(RuntimeError, match=r"needs Graphviz's program 'dot'.*Install Graphviz"):
        graph.render(tmp_path / "g.png")
    assert not (tmp_path / "g.png").exists()


@pytest.mark.parametrize("name", ["g.bmp", "g", "svg"])
def test_a_suffix_that_cannot_be_written(name, tmp_path):
    with pytest.raises(ValueError, match=r"must end in .svg, .png, .pdf, .dot or .gv"):
        a_graph().render(tmp_path / name)


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for dot is a shell script")
def test_graphviz_draws_where_it_is_installed(tmp_path, monkeypatch):
    dot = tmp_path / "dot"
    dot.write_text('#!/bin/sh\necho "$1"\ncat\n')
    dot.chmod(dot.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    graph = a_graph()
    for suffix in ("svg", "png", "pdf"):
        graph.render(tmp_path / f"g.{suffix}")
        assert (tmp_path / f"g.{suffix}").read_text("utf-8") == f"-T{suffix}\n{graph.to_dot()}"
    dot.write_text("#!/bin/sh\necho no fonts >&2\nexit 3\n")
    with pytest.raises(RuntimeError, match="failed with status 3: no fonts"):
        graph.render(tmp_path / "bad.png")


@pytest.mark.parametrize(
    "name", ["ctl\x01\x1f", "half\udc80", "end\ufffe\uffff", '\x7f\x85é漢𝄞&<">']
)
def test_file_names_may_hold_any_character(name, tmp_path):
    scope = {"torch": torch}
    source = "with torch.pipeline(trace=True) as pipe: y = torch.ones(3) * 2"
    exec(compile(source, f"{name}.py", "exec"), scope)
    graph = scope["pipe"].graph
    drawn = minidom.parseString(graph.to_svg().encode())
    shown = " ".join(t.firstChild.data for t in drawn.getElementsByTagName("text"))
    plain = name.translate({ord(c): repr(c)[1:-1] for c in "\x01\x1f\udc80\ufffe\uffff"})
    assert f"{plain}.py:1" in shown
    graph.to_dot().encode()
    graph.render(tmp_path / "graph.svg")
    minidom.parse(str(tmp_path / "graph.svg"))
    scope["pipe"].export_chrome_trace(tmp_path / "trace.json")
