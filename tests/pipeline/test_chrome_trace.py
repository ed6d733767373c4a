"""`Pipeline.export_chrome_trace`: the file a viewer gets."""

import gzip
import json
import threading

import pytest

import mindtorch_core as torch


def exported(pipe, tmp_path):
    """The events of a trace, after the checks that hold for all of them."""
    pipe.export_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text("utf-8"))["traceEvents"]
    check(events)
    return events


def check(events):
    """Every event has what the format demands, and what should nest does."""
    open_blocks = {}
    for event in events:
        assert {"ph", "pid", "tid", "name"} <= event.keys()
        assert event["ph"] in "MiXbe"
        if event["ph"] == "M":
            continue
        assert event["ts"] >= 0
        if event["ph"] in "be":
            stack = open_blocks.setdefault((event["cat"], event["id"]), [])
            if event["ph"] == "b":
                stack.append(event["name"])
            else:
                assert stack.pop() == event["name"]
    assert not any(open_blocks.values())
    for thread in {e["tid"] for e in events}:
        stack = []
        for event in (e for e in events if e["ph"] == "X" and e["tid"] == thread):
            start, end = event["ts"], event["ts"] + event["dur"]
            while stack and stack[-1] <= start + 0.002:
                stack.pop()
            assert not stack or end <= stack[-1] + 0.002, event
            stack.append(end)


def spans(events, category):
    return [e for e in events if e["ph"] == "X" and e["cat"] == category]


def test_a_pipeline_without_a_trace_says_how_to_get_one(tmp_path):
    with torch.pipeline() as pipe:
        torch.ones(2) + 1
    with pytest.raises(RuntimeError, match=r"Open it with torch\.pipeline\(trace=True\)"):
        pipe.export_chrome_trace(tmp_path / "trace.json")
    assert not (tmp_path / "trace.json").exists()


def test_flushes_hold_plan_and_launch_and_launch_holds_the_ops(tmp_path):
    x = torch.ones(512, 512)
    with torch.pipeline(trace=True) as pipe:
        y = (x * 2).relu() + 1
        s = torch.ones(3).sin()
        y.sum().item()
        z = s * 2
    assert z.shape == (3,)
    events = exported(pipe, tmp_path)
    first, second = [e for e in spans(events, "flush") if e["name"].startswith("flush")]
    assert (first["name"], second["name"]) == ("flush: item()", "flush: end of block")
    assert first["args"]["groups"] == 1
    (fused,) = spans(events, "fused")
    assert fused["name"] == "fused: mul, relu, add, sum"
    assert fused["args"]["ops"] == ["mul", "relu", "add", "sum"]
    assert fused["args"]["shapes"][0] == "[512, 512] float32"
    assert fused["args"]["bytes"] == 3 * 4 * 512 * 512 + 4
    launched = [e["name"] for e in spans(events, "launch")]
    assert launched[0] == "ones"
    assert launched[-1] == "mul"
    for flush in (first, second):
        inner = {
            e["name"]: e for e in spans(events, "flush") if within(e, flush) and e is not flush
        }
        assert inner.keys() == {"plan", "launch"}
        assert inner["plan"]["ts"] + inner["plan"]["dur"] <= inner["launch"]["ts"] + 0.002
    assert within(fused, first)
    recorded = {e["args"]["op"]: e for e in events if e["ph"] == "i"}
    assert len(recorded) == pipe.stats()["recorded"]
    for span in spans(events, "launch"):
        assert recorded[span["args"]["op"]]["ts"] <= span["ts"]
        assert recorded[span["args"]["op"]]["name"] == span["name"]
        assert span["args"]["location"].startswith(__file__)


def within(inner, outer):
    return (
        outer["ts"] <= inner["ts"] + 0.002
        and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 0.002
    )


def test_long_groups_get_short_names(tmp_path):
    x = torch.ones(512, 512)
    with torch.pipeline(trace=True) as pipe:
        for _ in range(9):
            x = x * 2
    (fused,) = spans(exported(pipe, tmp_path), "fused")
    assert fused["name"] == "fused: mul, mul, mul, mul, 5 more"
    assert len(fused["args"]["ops"]) == 9
    assert len(fused["args"]["locations"]) == 1


def test_it_can_be_written_inside_the_block(tmp_path):
    with torch.pipeline(trace=True) as pipe:
        x = torch.ones(2) + 1
        x.tolist()
        y = x + 2
        events = exported(pipe, tmp_path)
    assert y.tolist() == [4, 4]
    assert len([e for e in events if e["ph"] == "i"]) == 3
    assert len(spans(events, "flush")) == 3


def test_flushes_of_other_threads_are_theirs(tmp_path):
    with torch.pipeline(trace=True) as pipe:
        x = torch.ones(2) + 1
        reader = threading.Thread(target=x.tolist, name="reader")
        reader.start()
        reader.join()
        y = x + 1
    assert y.tolist() == [3, 3]
    events = exported(pipe, tmp_path)
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    flushes = {e["name"]: names[e["tid"]] for e in spans(events, "flush") if "flush:" in e["name"]}
    assert flushes == {"flush: another thread": "reader", "flush: end of block": "MainThread"}
    assert {names[e["tid"]] for e in events if e["ph"] == "i"} == {"MainThread"}


def test_blocks_that_overlap(tmp_path):
    def steps():
        with torch.pipeline(trace=True) as pipe:
            x = torch.ones(2)
            for _ in range(3):
                x = x + 1
                yield pipe

    one, other = steps(), steps()
    pipes = [next(one), next(other)]
    next(one)
    next(other)
    assert [len(list(g)) for g in (one, other)] == [1, 1]
    found = [exported(pipe, tmp_path) for pipe in pipes]
    assert sum(e["ph"] == "i" for events in found for e in events) == 8
    for events in found:
        (block,) = [e for e in events if e["ph"] == "b" and e["name"] == "pipeline 1"]
        assert block["args"]["location"].startswith(__file__)


def test_failures_are_marked(tmp_path):
    with pytest.raises(torch.PipelineError), torch.pipeline(trace=True) as pipe:
        bad = torch.tensor([1, 2]) // torch.tensor([0, 1])
    assert bad.shape == (2,)
    (span,) = [e for e in spans(exported(pipe, tmp_path), "launch") if "divide" in e["name"]]
    assert span["args"]["failed"] is True


def test_a_pipeline_that_did_nothing(tmp_path):
    with torch.pipeline(trace=True) as pipe:
        pass
    assert [e["name"] for e in exported(pipe, tmp_path) if e["ph"] in "be"] == ["pipeline 1"] * 2


def test_compressed(tmp_path):
    with torch.pipeline(trace=True) as pipe:
        torch.ones(2) + 1
    pipe.export_chrome_trace(str(tmp_path / "trace.json.gz"))
    with gzip.open(tmp_path / "trace.json.gz", "rt", encoding="utf-8") as file:
        check(json.load(file)["traceEvents"])


def test_the_process_is_named_beside_its_threads(tmp_path):
    with torch.pipeline(trace=True) as pipe:
        torch.ones(2) + 1
    (process,) = [e for e in exported(pipe, tmp_path) if e["name"] == "process_name"]
    assert (process["tid"], process["args"]) == (0, {"name": "mindtorch"})
