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
