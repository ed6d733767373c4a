"""Profiles of work on the NPU: its times, its memory, its streams."""

import json

import pytest

import mindtorch_core as torch
from mindtorch_core.profiler import ProfilerActivity, profile, record_function

pytestmark = pytest.mark.usefixtures(
    "simulator"
)  # not asked while tests are collected: asking starts it


def test_times_of_tasks(tmp_path):
    x = torch.ones(32, 32, device="npu")
    with profile(profile_memory=True) as prof, record_function("all"):
        y = x @ x
        side, main = torch.npu.Stream(), torch.npu.current_stream()
        side.wait_stream(main)
        with torch.npu.stream(side):
            z = y + 1
        main.wait_stream(side)
    assert z.sum().item() == 33 * 1024
    found = {e.key: e for e in prof.key_averages()}
    add, whole = found["aten::add"], found["all"]
    assert add.self_device_time_total > 0
    assert add.device_memory_usage == 4096
    assert add.cpu_memory_usage == 0
    assert whole.self_device_time_total == 0
    assert whole.device_time_total >= add.device_time_total
    text = prof.key_averages().table(sort_by="self_device_time_total")
    assert "Self NPU" in text
    assert "Self Device Mem" in text
    prof.export_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    streams = {e["tid"] for e in events if e.get("cat") == "kernel"}
    assert len(streams) == 2


def test_a_launch_of_a_pipeline_has_its_time():
    x = torch.ones(32, 32, device="npu")
    with profile() as prof:
        with torch.pipeline():
            y = (x + 1).sum()
        y.item()
    (flush,) = [e for e in prof.events() if e.name == "pipeline flush: end of block"]
    assert flush.device_time_total > 0
    add = next(e for e in prof.events() if e.name == "aten::add")
    assert add.device_time_total == 0  # it was only recorded


def test_the_host_alone():
    x = torch.ones(4, device="npu")
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        x + 1
    assert "NPU" not in prof.key_averages().table()


def test_the_page_of_a_trace_has_the_tasks_of_each_stream_and_memory():
    from mindtorch_core.measuring.timeline.facts import facts_of
    from mindtorch_core.measuring.timeline.following import Follower

    x = torch.ones(32, 32, device="npu")
    side = torch.npu.Stream()
    with Follower(100) as follower:
        y = x @ x
        side.wait_stream(torch.npu.current_stream())
        with torch.npu.stream(side):
            z = y + 1
        torch.npu.current_stream().wait_stream(side)
        with torch.pipeline():
            w = (z * 2).relu()
    found = facts_of(follower, "train.py", [], 0)
    tasks = {task["name"]: task for task in found["tasks"]}
    assert set(tasks) == {"mm", "add", "pipeline 1: end of block"}
    assert tasks["mm"]["stream"] != tasks["add"]["stream"]
    assert all(task["device"] == "npu:0" and task["us"] > 0 for task in tasks.values())
    assert found["memory"]["npu:0"]["peak"] >= 3 * 4096
    assert w.sum().item() == 66 * 1024
