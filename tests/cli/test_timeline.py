"""What follows a program for its page: ops in each other, memory that comes and goes, times, sources."""

from types import SimpleNamespace

import pytest

import mindtorch_core as torch
from mindtorch_core.ecosystem.profiler.recording import Span
from mindtorch_core.measuring.timeline import memory, page
from mindtorch_core.measuring.timeline.facts import (
    _Clock,
    _kind,
    _named,
    _ops,
    _source,
    _task,
    _thinned,
    facts_of,
)
from mindtorch_core.measuring.timeline.following import Follower
from mindtorch_core.measuring.timeline.memory import Held


def test_of_very_many_ops_the_first_are_kept_and_the_others_counted():
    with Follower(5) as follower:
        for _ in range(8):
            torch.ones(2).exp()
    found = facts_of(follower, "train.py", [], 0)
    assert len(found["ops"]) == 5
    assert found["left_out"] + len(found["ops"]) >= 16


def test_views_share_memory_and_hold_it():
    with Follower(100) as follower:
        x = torch.ones(1000)
        y = x + 1
        view = y[10:]
        view.sum()
        held = follower.memory.devices["cpu"]
        assert held.bytes == 8000
        del y
        assert held.bytes == 8000
        del view
        assert held.bytes == 4000
        torch.ones(10**6, device="meta") + 1
        assert set(follower.memory.devices) == {"cpu"}


def test_what_a_pipeline_fuses_away_has_no_memory():
    x = torch.ones(1000)
    with Follower(100) as follower, torch.pipeline():
        y = (x.exp() * 2 + 1).relu()
        assert follower.memory.devices["cpu"].bytes == 4000  # x
    assert follower.memory.devices["cpu"].peak == 8000
    assert y.numel() == 1000


@pytest.fixture
def held(monkeypatch):
    """What is held on a device, with a clock that counts; of more than 8 changes every second one goes."""
    ticks = iter(range(10_000))
    monkeypatch.setattr(memory, "perf_counter_ns", lambda: next(ticks))
    monkeypatch.setattr(memory, "_MOST", 8)
    return Held()


def thinned_out(changes, most):
    """The changes that are kept, told plainly: whenever ``most`` are, every second goes, and as many after."""
    kept, step, since = [], 1, 0
    for at, height in enumerate(changes):
        since += 1
        if since == step:
            kept.append((at, height))
            since = 0
        if len(kept) == most and since == 0:
            kept, step = kept[::2], step * 2
    return kept


@pytest.mark.parametrize("number", [1, 7, 8, 9, 12, 16, 17, 100])
def test_of_very_many_changes_every_second_one_is_kept(number, held):
    heights = [5 * (i + 1) for i in range(number)]
    for _ in heights:
        held.change(5, "")
    assert held.points == thinned_out(heights, 8)
    assert held.bytes == heights[-1]


def test_the_peak_is_the_first_time_that_so_much_was_held(held):
    for by, location in [(4, "a"), (6, "b"), (-3, "c"), (3, "d"), (1, "e"), (-11, "f")]:
        held.change(by, location)
    assert (held.bytes, held.peak, held.peak_at, held.peak_location) == (0, 11, 4, "e")
    for by, location in [(11, "g"), (-11, "h")]:
        held.change(by, location)
    assert (held.peak_at, held.peak_location) == (4, "e")


def test_tensors_are_found_in_lists_within_lists_alone():
    a, b, c = torch.ones(1), torch.nn.Parameter(torch.ones(1)), torch.ones(2)
    values = (1, a, [b, "text", (c, None)], {"key": a}, {a})
    assert [id(t) for t in memory.tensors_among(values)] == [id(a), id(b), id(c)]


@pytest.mark.parametrize("number", [3999, 4000, 4001, 50_000])
def test_a_curve_is_thinned_to_what_a_screen_shows(number):
    points = [(i, 7 * i % 1013) for i in range(number)]
    thin = list(_thinned(points))
    if number <= 4000:
        assert thin == points
        return
    assert len(thin) <= 4000
    assert thin == sorted(thin)
    stretches = [points[i * number // 2000 : (i + 1) * number // 2000] for i in range(2000)]
    heights = dict(thin)
    for stretch in stretches:
        kept = [heights[at] for at, _ in stretch if at in heights]
        assert {max(kept), min(kept)} == {max(h for _, h in stretch), min(h for _, h in stretch)}


def test_tasks_of_a_device_last_microseconds():
    task = SimpleNamespace(on="npu:0", stream=1, start=3_000, total=7_000)
    told = _task(task, "mul", _Clock(1_000))
    assert told == {"name": "mul", "device": "npu:0", "stream": 1, "start": 2, "us": 7}


def test_times_are_microseconds_since_the_beginning():
    clock = _Clock(1_000_000)
    assert clock.since(1_002_500) == 2.5
    assert clock.since(1_000_000 + 1_234_567) == 1234.567
    assert clock.of(0.002) == 1000.0
    assert clock.lasting(2.0, 2.25) == 250_000.0


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("end of block", "end"), ("flush()", "end"), ("backward()", "end"), ("item()", "look"),
        ("break: nonzero", "break"), ("breakfast", "look"), ("", "look"),
    ],
)  # fmt: skip
def test_a_flush_is_an_end_a_break_or_a_look(reason, kind):
    assert _kind(reason) == kind


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["mul"], "mul"),
        (["a", "b", "c", "d"], "a, b, c, d"),
        (["a", "b", "c", "d", "e"], "a, b, c, d, 1 more"),
        (["a", "b", "c", "d", "e", "f", "g"], "a, b, c, d, 3 more"),
    ],
)
def test_a_fused_group_is_named_after_its_first_ops(names, text):
    assert _named(names) == text


def test_the_source_of_a_line_is_read_where_there_is_one(tmp_path):
    file = tmp_path / "a b:c.py"
    file.write_text("first\n    second = 1  \n" + "x" * 300 + "\n")
    assert [_source(f"{file}:{n}") for n in (1, 2, 4)] == ["first", "second = 1", ""]
    assert _source(f"{file}:3") == "x" * 200
    assert [_source(p) for p in ("", str(file), f"{file}:", f"{file}:x", f"{file}.py:1", "1")] == [
        ""
    ] * 6


def test_ops_lie_in_the_blocks_and_ops_around_them():
    x = torch.ones(3, requires_grad=True)
    with Follower(100) as follower:
        with torch.profiler.record_function("around"):
            with torch.profiler.record_function("within"):
                x.exp()
            x.sin()
        x.cos()
    ops = {op["name"]: op for op in facts_of(follower, "train.py", ["-x"], 3)["ops"]}
    assert {name: op["depth"] for name, op in ops.items()} == {
        "around": 0, "within": 1, "exp": 2, "sin": 1, "cos": 0
    }  # fmt: skip
    assert not any(op["inner"] for op in ops.values())  # nothing lies in an op
    assert {name for name, op in ops.items() if op["op"]} == {"exp", "sin", "cos"}
    assert ops["exp"]["shapes"] == [[3]]
    assert ops["exp"]["bytes"] == ops["around"]["bytes"] // 2 == 12
    assert (
        ops["exp"]["line"]
        == f"{__file__}:{test_ops_lie_in_the_blocks_and_ops_around_them.__code__.co_firstlineno + 5}"
    )
    assert ops["exp"]["start"] >= ops["within"]["start"] >= ops["around"]["start"] >= 0


def test_where_spans_lie_is_read_from_their_times():
    spans = [
        Span("aten::b", 20, 30, thread=1),
        Span("a", 10, 60, thread=1, is_op=False),
        Span("c", 22, 30, thread=1),
        Span("d", 30, 60, thread=1),
        Span("e", 60, 70, thread=1),
        Span("f", 25, 28, thread=2),
        Span("g", 25, 26, thread=2),
    ]
    rows = _ops(SimpleNamespace(spans=spans, lines={0: "x.py:1"}), _Clock(0))
    assert [(row["name"], row["depth"], row["inner"], row["line"]) for row in rows] == [
        ("a", 0, False, ""), ("b", 1, False, "x.py:1"), ("c", 2, True, ""), ("d", 1, False, ""),
        ("e", 0, False, ""), ("f", 0, False, ""), ("g", 1, True, ""),
    ]  # fmt: skip
    assert [(row["start"], row["us"]) for row in rows[:2]] == [(0.01, 0.05), (0.02, 0.01)]


def test_the_facts_of_a_program_name_what_ran_it():
    with Follower(100) as follower:
        x = torch.ones(1000)
        with torch.pipeline():
            y = x.exp() * 2
        y.sum().item()
    found = facts_of(follower, "train.py", ["-x", "1"], 3)
    assert (found["script"], found["args"], found["status"]) == ("train.py", ["-x", "1"], 3)
    assert found["us"] == (follower.ended - follower.begun) / 1000 > 0
    (flush,) = found["flushes"]
    assert (flush["ops"], flush["dropped"], flush["failed"], flush["bytes"]) == (2, 0, 0, 8000)
    assert flush["fused"] == sum(len(n["ops"]) for n in flush["launches"] if n["group"] is not None)
    assert flush["us"] >= flush["planned"] > 0
    assert {flush["line"], *flush["places"]} <= set(found["sources"])
    assert found["sources"][flush["places"][0]] == "y = x.exp() * 2"
    assert "" not in found["sources"]
    held = found["memory"]["cpu"]
    assert (held["end"], held["peak"]) == (8000, 8004)
    assert held["peak_line"] in found["sources"]
    assert [height for _, height in held["points"]] == [4000, 8000, 8004, 8000]


def drawn(pipelines):
    """The elements that a page draws for pipelines of a sine each, of so many elements."""
    with Follower(10_000) as follower:
        for sizes in pipelines:
            with torch.pipeline():
                [torch.ones(n).sin() for n in sizes]
    return list(page._graphs(follower.tracing.histories, 50))


def test_pipelines_that_are_alike_are_drawn_once_and_named():
    once = drawn([[2]] * 9 + [[3]])
    assert len(once) == 2
    assert once[0].startswith(
        "<details open><summary>pipelines 1, 2, 3, 4, 5, 6, 7, 8 and 1 more, which are alike: "
    )
    assert once[1].startswith("<details><summary>pipeline 10: ")
    (eight, _) = drawn([[2]] * 8 + [[3]])
    assert "<summary>pipelines 1, 2, 3, 4, 5, 6, 7, 8, which are alike: " in eight


def test_the_thirteenth_picture_is_named_only():
    found = drawn([[n] for n in range(1, 14)])
    assert [each.startswith("<details") for each in found] == [True] * 12 + [False]
    assert found[-1].startswith("<p>pipeline 13: ")
    assert found[-1].endswith(", 1 flush: not drawn</p>")
