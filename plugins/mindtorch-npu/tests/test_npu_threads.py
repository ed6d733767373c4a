"""Threads with pipelines: collected launches use memory that has gone, and no other thread gets it."""

import threading
import time

import pytest
from npu_threads import in_threads

import mindtorch_core as torch


def computed(x, steps):
    """Many intermediate results, each of which goes at once."""
    for step in range(steps):
        x = (x + step) * 1.5 - x.relu()
    return x.sum(0)


@pytest.mark.parametrize("own_stream", [False, True])
@pytest.mark.parametrize("limited", [False, True])
def test_pipelines_of_threads_do_not_share_memory(npu, simulator, own_stream, limited):
    start = torch.randn(200, 300)
    expected = computed(start, 6)
    total = npu.mem_get_info()[1]
    if limited:
        simulator.set_memory_limit(24 << 20)

    def work(number):
        with npu.stream(npu.Stream() if own_stream else None):
            for _ in range(12):
                x = start.to("npu")
                with torch.pipeline():
                    found = computed(x, 6)
                assert torch.allclose(found.cpu(), expected, rtol=1e-3, atol=1e-3)
                if number == 0:
                    npu.empty_cache()

    try:
        in_threads(work)
    finally:
        simulator.set_memory_limit(total)


@pytest.mark.parametrize("slow", ["aclnnExpGetWorkspaceSize", "aclnnExp", "aclrtSynchronizeStream"])
def test_other_threads_run_while_a_call_waits(npu, simulator, slow):
    x = torch.ones(3, device="npu")
    x.exp().tolist()  # binds what it needs
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.01):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        simulator.latency(f"{slow}=500000")
        begin = time.perf_counter()
        y = x.exp()
        npu.current_stream().synchronize()
        end = time.perf_counter()
    finally:
        simulator.latency("")
        done.set()
        thread.join()
    assert end - begin > 0.4
    assert sum(begin < t < end for t in ticks) >= 3
    assert y.tolist() == pytest.approx([2.718281828] * 3)


def timed(npu, x):
    events = [npu.Event(enable_timing=True) for _ in range(2)]
    for event in events:
        event.record()
    events[1].synchronize()
    return events[0].elapsed_time(events[1]) >= 0 and events[0].query()


def on_its_own_stream(npu, x):
    stream = npu.Stream(x.device)
    stream.wait_stream(npu.current_stream(x.device))
    with npu.stream(stream):
        y = x * 2
    stream.synchronize()
    return stream.query(), y.tolist()


def in_a_pipeline(npu, x):
    with torch.pipeline():
        y = (x * 2).sum()
    return y.item()


# What a thread may begin with, before it has done anything on the device.
FIRST_CALLS = {
    "pin": lambda npu, x: torch.ones(2).pin_memory(x.device).tolist(),
    "make": lambda npu, x: torch.full((2,), 3.0, device=x.device).tolist(),
    "upload": lambda npu, x: torch.ones(2).to(x.device).tolist(),
    "download": lambda npu, x: x.cpu().tolist(),
    "compute": lambda npu, x: (x + 1).tolist(),
    "write": lambda npu, x: x.clone().add_(1).tolist(),
    "compute on the host": lambda npu, x: torch.linalg.det(torch.eye(2, device=x.device)).item(),
    "one number": lambda npu, x: x[0].item(),
    "draw": lambda npu, x: torch.rand(2, device=x.device).shape,
    "pipeline": in_a_pipeline,
    "events": timed,
    "stream": on_its_own_stream,
    "synchronize": lambda npu, x: npu.synchronize(x.device),
    "memory": lambda npu, x: npu.mem_get_info(x.device)[1],
    "cache": lambda npu, x: npu.empty_cache(),
    "properties": lambda npu, x: npu.get_device_name(x.device),
    "stream's state": lambda npu, x: (x.tolist(), npu.default_stream(x.device).query()),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.* is computed on the CPU")
@pytest.mark.parametrize("device", ["npu:0", "npu:1"])
@pytest.mark.parametrize("call", FIRST_CALLS.values(), ids=FIRST_CALLS)
def test_what_a_thread_may_begin_with(npu, device, call):
    """It needs a context of its own, of the device that the call is about."""
    x = torch.tensor([1.0, 2.0], device=device)
    expected, found = call(npu, x), []
    in_threads(lambda number: found.append(call(npu, x)), 1)
    assert found == [expected]
