"""`torch.profiler`: spans, averages, schedules and traces."""

import gzip
import json

import pytest

import mindtorch_core as torch
from mindtorch_core.profiler import ProfilerAction, profile, record_function, schedule


def work():
    x = torch.ones(3, 4, requires_grad=True)
    (x @ torch.ones(4, 2)).relu().sum().backward()


def test_ops_forward_and_backward_are_counted():
    with profile(record_shapes=True) as prof:
        work()
        with record_function("mine"):
            torch.ones(2) + 1
    found = {e.key: e for e in prof.key_averages()}
    assert found["mine"].count == 1
    assert {"aten::relu", "aten::threshold_backward", "aten::sum"} <= set(found)
    add = next(e for e in prof.events() if e.name == "aten::add")
    assert add.input_shapes == [[2]]
    mine = found["mine"]
    assert mine.cpu_time_total >= add.cpu_time_total
    assert mine.self_cpu_time_total == pytest.approx(
        mine.cpu_time_total
        - sum(e.cpu_time_total for e in prof.events() if mine.start_us < e.start_us)
    )
    assert prof.events().total_average().count == len(prof.events())


def test_the_table():
    with profile(record_shapes=True) as prof:
        work()
    by_shape = prof.key_averages(group_by_input_shape=True)
    text = by_shape.table(sort_by="self_cpu_time_total", row_limit=2)
    head = text.splitlines()[1]
    assert [c for c in ("Name", "Self CPU", "# of Calls", "Input Shapes") if c in head] == [
        "Name", "Self CPU", "# of Calls", "Input Shapes",
    ]  # fmt: skip
    rows = text.splitlines()[3:5]
    assert text.splitlines()[5].startswith("-")
    times = sorted((e.self_cpu_time_total for e in by_shape), reverse=True)
    assert rows[0].split()[0] == max(by_shape, key=lambda e: e.self_cpu_time_total).key
    assert len(times) > 2
    with pytest.raises(AttributeError, match="cannot sort by 'beauty'"):
        prof.key_averages().table(sort_by="beauty")


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_the_trace(tmp_path, name):
    with profile() as prof, record_function("all"):
        work()
    prof.add_metadata("run", "7")
    prof.export_chrome_trace(tmp_path / name)
    data = (tmp_path / name).read_bytes()
    trace = json.loads(gzip.decompress(data) if name.endswith("gz") else data)
    assert trace["run"] == "7"
    spans = trace["traceEvents"]
    outer = next(s for s in spans if s["name"] == "all")
    assert outer["cat"] == "user_annotation"
    assert all(s["ts"] + s["dur"] <= outer["ts"] + outer["dur"] + 1e-3 for s in spans)


SCHEDULES = [
    {"wait": 1, "warmup": 1, "active": 2, "repeat": 2},
    {"wait": 0, "warmup": 1, "active": 1},
    {"wait": 2, "warmup": 2, "active": 2, "repeat": 1, "skip_first": 3},
    {"wait": 2, "warmup": 1, "active": 1, "repeat": 2, "skip_first_wait": 1},
]


@pytest.mark.parametrize("options", SCHEDULES)
def test_schedules_are_pytorchs(options):
    pt = pytest.importorskip("torch")
    mine, theirs = schedule(**options), pt.profiler.schedule(**options)
    assert [mine(i).name for i in range(15)] == [theirs(i).name for i in range(15)]


def test_steps_are_recorded_as_scheduled():
    seen = []

    def ready(prof):
        names = sorted({e.name for e in prof.events() if e.name.startswith("ProfilerStep")})
        seen.append((prof.step_num, names))

    with profile(schedule=schedule(**SCHEDULES[0]), on_trace_ready=ready) as prof:
        for _ in range(9):
            work()
            prof.step()
    assert seen == [
        (4, ["ProfilerStep#2", "ProfilerStep#3"]),
        (8, ["ProfilerStep#6", "ProfilerStep#7"]),
    ]
    assert prof.current_action is ProfilerAction.NONE


def test_nothing_is_recorded_outside(tmp_path):
    with record_function("nobody"):
        work()
    prof = profile()
    with pytest.raises(AssertionError, match="nothing is recorded"):
        prof.events()
    with pytest.raises(AssertionError, match=r"active=0 \(need > 0\)"):
        schedule(wait=1, warmup=1, active=0)


def test_the_interface_of_old():
    with torch.autograd.profiler.profile() as prof:
        work()
    assert "aten::relu" in {e.key for e in prof.key_averages()}
    with torch.autograd.profiler.profile(enabled=False):
        work()


def test_memory():
    with profile(profile_memory=True) as prof:
        x = torch.ones(256, 4)
        with record_function("both"):
            y = x + 1
            y.view(4, 256).mul_(2)
    found = {e.key: e for e in prof.key_averages()}
    assert found["aten::add"].self_cpu_memory_usage == found["aten::add"].cpu_memory_usage == 4096
    assert found["aten::mul_"].cpu_memory_usage == 0
    assert (found["both"].cpu_memory_usage, found["both"].self_cpu_memory_usage) == (4096, 0)
    text = prof.key_averages().table(sort_by="self_cpu_memory_usage")
    assert "Self CPU Mem" in text
    assert "4.00 KB" in text


def test_pipelines_show(tmp_path):
    x = torch.ones(3)
    with profile() as prof, torch.pipeline():
        y = (x + 1).sum()
    assert y.item() == 6
    (flush,) = [e for e in prof.events() if e.name.startswith("pipeline flush: ")]
    launched = [e for e in prof.events() if e.name.startswith("launch ")]
    assert launched
    assert all(flush.start_us <= e.start_us <= e.end_us <= flush.end_us for e in launched)
    prof.export_chrome_trace(tmp_path / "trace.json")
    shown = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert any(e["name"] == flush.name for e in shown)


def test_without_an_accelerator_nothing_is_said_of_one(tmp_path):
    with profile() as prof:
        work()
    assert all(e.device_time_total == 0 and e.tasks == [] for e in prof.events())
    assert "NPU" not in prof.key_averages().table()


def test_the_profile_of_autograd_adds_up_its_events_and_prints_their_table():
    with torch.autograd.profiler.profile() as prof:
        torch.ones(2) + 1
    assert str(prof) == prof.table()
    assert repr(prof) == repr(prof.function_events)
    assert prof.self_cpu_time_total == sum(e.self_cpu_time_total for e in prof.function_events) > 0
