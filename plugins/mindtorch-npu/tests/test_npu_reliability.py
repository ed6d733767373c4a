"""Long runs, failures of every call in turn, and threads: nothing grows, leaks or breaks."""

import gc
import os
import time
from contextlib import nullcontext

import pytest
from npu_threads import in_threads
from npu_training import Training

import mindtorch_core as torch
from mindtorch_npu.acl import ACLError

STEPS = int(os.environ.get("MINDTORCH_NPU_STEPS", "400"))
SECONDS = float(os.environ.get("MINDTORCH_NPU_SECONDS", "2"))
TRANSIENT = {"aclrtMalloc": 207001}  # what else than an internal error a symbol would give


def settled(simulator):
    """What lives once everything queued is done and all garbage is gone."""
    gc.collect()
    torch.npu.synchronize()
    found = simulator.counters()
    objects = {k: v["live"] for k, v in found["objects"].items()}
    return objects, found["memory"], len(gc.get_objects())


@pytest.mark.parametrize("pipelined", [False, True], ids=["eager", "pipeline"])
def test_a_long_training_does_not_grow(npu, simulator, pipelined):
    training = Training()

    def steps(count):
        for _ in range(count):
            if pipelined:
                with torch.pipeline():
                    training.step()
            else:
                training.step()

    steps(20)
    objects, memory, python = settled(simulator)
    before = torch.npu.memory_allocated()
    steps(STEPS)
    after_objects, after_memory, after_python = settled(simulator)
    assert after_objects == objects
    assert after_memory == memory
    assert torch.npu.memory_allocated() == before
    assert after_python <= python + 200  # nothing per step
    assert training.step().item() < 1.4


def called_by(simulator, work):
    """The symbols that some work calls."""
    simulator.reset()
    work()
    return sorted(n for n, count in simulator.counters()["calls"].items() if count)


def whole_step(training, side):
    """A step and everything around it that calls the toolkit: copies, events, streams, statistics.

    Args:
        training: what takes the step.
        side: a stream for further work.
    """
    loss = training.step()
    event = torch.npu.Event(enable_timing=True)
    event.record()
    side.wait_event(event)
    with torch.npu.stream(side):
        doubled = loss * 2
    doubled.record_stream(side)
    torch.npu.current_stream().wait_stream(side)
    found = doubled.to("cpu").item()
    torch.npu.synchronize()
    event.elapsed_time(event)
    torch.npu.mem_get_info()
    return found


def test_every_call_may_fail_once(npu, simulator):
    """Each symbol that a step calls fails in turn: an error names it, and the next step works."""
    training, side = Training(), torch.npu.Stream()
    for _ in range(3):
        whole_step(training, side)
    symbols = called_by(simulator, lambda: whole_step(training, side))
    assert len(symbols) > 40, symbols
    objects, memory, _ = settled(simulator)
    silent = []
    for symbol in symbols:
        code = TRANSIENT.get(symbol, 507899 if symbol.startswith("aclrt") else 561000)
        simulator.inject(f"{symbol}:1={code}")
        raised = None
        try:
            whole_step(training, side)
        except (RuntimeError, torch.OutOfMemoryError) as error:
            raised = error
        fired = [f for f in simulator.faults() if f["fired"]]
        simulator.clear_faults()
        assert fired, f"{symbol} was not called again"
        if raised is None:
            silent.append(symbol)
        else:
            assert symbol in str(raised), (symbol, raised)
            assert str(code) in str(raised), (symbol, raised)
            del raised
        assert whole_step(training, side) > 0, symbol  # it works again
        gc.collect()
        torch.npu.synchronize()
        assert simulator.findings() == [], symbol
        after_objects, after_memory, _ = settled(simulator)
        assert after_objects == objects, symbol
        assert after_memory["blocks"] <= memory["blocks"] + 1, symbol
    # Calls whose failure changes nothing: a query, or something that is tried again.
    assert set(silent) <= TOLERATED, set(silent) - TOLERATED


# A failure of these is no failure of the step: they are asked again, or what they free is freed later.
TOLERATED = {"aclrtQueryEventStatus", "aclGetRecentErrMsg"}


@pytest.mark.parametrize("pipelined", [False, True], ids=["eager", "pipeline"])
def test_every_kernel_may_fail_on_the_device(npu, simulator, pipelined):
    """Errors of kernels come out where the program waits; the next step works."""
    training = Training()

    def waited_step():
        with torch.pipeline() if pipelined else nullcontext():
            training.step()
        torch.npu.synchronize()

    waited_step()
    simulator.log(clear=True)
    waited_step()
    kernels = sorted(
        {e["name"] for e in simulator.log() if e["kind"] == "run" and "aclnn" in e["name"]}
    )
    assert len(kernels) > 10
    for kernel in kernels:
        simulator.inject(f"kernel:{kernel}:1=507015")
        with pytest.raises(RuntimeError, match="507015") as caught:
            waited_step()
        assert kernel in str(caught.value), caught.value
        simulator.clear_faults()
        waited_step()
    assert simulator.findings() == []


def test_a_failed_launch_of_a_pipeline_names_the_op(npu, simulator):
    training = Training()
    with torch.pipeline():
        training.step()
    simulator.inject("aclnnInplaceSub:1=561000,aclnnSub:1=561000,aclnnInplaceSubs:1=561000")
    with torch.pipeline() as pipe:
        training.step()
        with pytest.raises(torch.PipelineError, match="561000") as caught:
            pipe.flush()
    assert isinstance(caught.value.__cause__, ACLError)
    assert "npu_training.py:" in str(caught.value)


def test_out_of_memory_leaves_everything_usable(npu, simulator):
    training = Training()
    training.step()
    torch.npu.synchronize()
    simulator.set_memory_limit(64 << 20)
    try:
        with pytest.raises(torch.OutOfMemoryError, match=r"Tried to allocate .* MiB"):
            torch.empty(64 << 20, device="npu")
        training.step()
        kept = []
        with pytest.raises(torch.OutOfMemoryError):
            kept.extend(torch.ones(1 << 20, device="npu") for _ in range(64))
        kept.clear()
        assert training.step().item() > 0
    finally:
        simulator.set_memory_limit(4 << 30)


def test_threads_with_a_stream_each(npu, simulator):
    """Four threads train on streams of their own; each gets what it gets alone."""
    expected = [[t.step().item() for _ in range(12)] for t in map(_fresh, range(4))]
    rounds = [0] * 4
    end = time.monotonic() + SECONDS

    def run(number):
        with torch.npu.stream(torch.npu.Stream()):
            while time.monotonic() < end or not rounds[number]:
                training = _fresh(number)
                losses = [training.step() for _ in range(12)]
                found = [loss.item() for loss in losses]
                assert found == expected[number]
                rounds[number] += 1

    in_threads(run, timeout=SECONDS + 100)
    assert all(rounds)
    torch.npu.synchronize()
    assert simulator.findings() == []


def _fresh(number):
    return Training(f"npu:{number % 2}", seed=number)
