"""Ctrl-C at any instant: nothing leaks, no lock stays held, earlier values stay, the next step works.

`MINDTORCH_NPU_SECONDS` is how long each test goes on at most; it draws the instants at random.
"""

import gc
import os
import random
import signal
import threading
import time
from contextlib import contextmanager

import pytest
from npu_instants import Instants, of_plugin
from npu_training import Training

import mindtorch_core as torch
from mindtorch_npu.allocator import Allocator
from mindtorch_npu.collecting import COLLECTING
from mindtorch_npu.devices import devices_in_use
from mindtorch_npu.runtime import RUNTIME

SECONDS = float(os.environ.get("MINDTORCH_NPU_SECONDS", "2"))
SEED = random.SystemRandom().randrange(1_000_000)
KINDS = (KeyboardInterrupt, SystemExit, GeneratorExit)

PROGRAMS = {}


def program(make):
    PROGRAMS[make.__name__] = make
    return make


@program
def training_step():
    training = Training()
    return training.step


@program
def step_in_a_pipeline():
    training = Training()

    def run():
        with torch.pipeline():
            return training.step()

    return run


@program
def copies():
    values = torch.arange(20_000)

    def run():
        there = values.to("npu")
        (there + 1).to("npu:1")
        assert there.cpu().sum().item() == 199_990_000

    return run


@program
def streams_and_events():
    side = torch.npu.Stream()

    def run():
        x = torch.ones(100, device="npu")
        ready = torch.npu.Event(enable_timing=True)
        ready.record()
        with torch.npu.stream(side):
            ready.wait()
            x.record_stream(side)
            y = x * 2
        y.record_stream(torch.npu.current_stream())
        torch.npu.current_stream().wait_stream(side)
        assert y.sum().item() == 200
        assert side.query()

    return run


@program
def memory():
    def run():
        blocks = [
            torch.empty(n, dtype=torch.uint8, device="npu") for n in (1, 700, 3 << 20, 12 << 20)
        ]
        del blocks[1:3]
        RUNTIME.workspace(1 << 20, 0)
        RUNTIME.workspace(5 << 20, 0)
        torch.empty(2 << 20, dtype=torch.uint8, device="npu")
        torch.npu.synchronize()
        torch.npu.empty_cache()

    return run


@program
def lists_and_sizes():
    x = torch.arange(6.0).to("npu")

    def run():
        joined = torch.cat([x, x * 0, x])
        assert joined.nonzero().flatten().cpu().tolist() == [1, 2, 3, 4, 5, 13, 14, 15, 16, 17]
        assert joined.sort().values.cpu()[-1] == 5

    return run


@pytest.fixture(autouse=True)
def own_garbage():
    gc.collect()
    gc.freeze()  # so that the collections between the interrupts see little
    yield
    gc.unfreeze()


def locks():
    """Every lock of the runtime."""
    for device in devices_in_use():
        yield from (device._lock, device.allocator._lock, device.events._lock, device.staging._lock)
    yield Allocator.turn


def free_for_another_thread():
    """Whether another thread gets every lock."""
    got = []

    def take():
        for lock in locks():
            got.append(lock.acquire(timeout=10))
            if got[-1]:
                lock.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return all(got)


def alive(simulator):
    """What CANN has given and not got back, but for what is kept for reuse."""
    torch.npu.set_stream(torch.npu.default_stream(0))
    gc.collect()
    torch.npu.synchronize()
    torch.npu.empty_cache()
    found = simulator.live()
    return {
        k: found.get(k, 0) for k in ("executor", "tensor", "scalar", "int array", "tensor list")
    }


def tried(total):
    """The instants to try, in a random order, as long as there is time."""
    end = time.monotonic() + SECONDS
    for at in random.Random(SEED).sample(range(1, total + 1), total):
        yield at
        if time.monotonic() > end:
            return


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_interrupt_at_any_instant(npu, simulator, name):
    """In the plugin's functions; what is above them is the core's."""
    run = PROGRAMS[name]()
    for _ in range(3):
        run()
    kept = torch.arange(1000).to("npu")
    objects, memory = alive(simulator), npu.memory_allocated()
    reused = simulator.live()  # what earlier tests have left for later ones
    within = Instants(of_plugin)
    within.run(run)
    for at in tried(within.seen):
        kind = KINDS[at % 3]

        def interrupt(kind=kind):
            raise kind("interrupted")

        came = None
        try:
            within.run(run, at, interrupt)
        except KINDS as error:
            came = type(error)
        where = f"{within.place} ({at} of seed {SEED})"
        assert came is kind or within.place is None, f"{where}: nobody heard of it"
        assert COLLECTING.batch is None, where
        assert not COLLECTING.sending, where
        assert alive(simulator) == objects, where
        run()
        assert simulator.findings() == [], where
    assert free_for_another_thread()
    assert npu.memory_allocated() == memory
    assert kept.cpu().tolist() == list(range(1000))
    run = kept = None
    gc.collect()
    npu.synchronize()
    npu.empty_cache()
    live = simulator.live()
    assert (
        live.get("device memory", 0) <= 2
    )  # segments of the first block and of the other device's
    assert live["event"] <= reused.get("event", 0) + 12
    assert live.get("pinned memory", 0) <= reused.get("pinned memory", 0) + 16


@contextmanager
def signals(within):
    """Interrupt the block once, at a random time below a number of seconds."""
    armed = True

    def handler(number, frame):
        if armed:
            raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, within))
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def test_real_signals(npu, simulator):
    programs = [make() for name, make in PROGRAMS.items() if name != "step_in_a_pipeline"]
    for run in programs:
        run()
        run()
    kept = torch.arange(1000).to("npu")
    objects = alive(simulator)
    end, interrupts = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        run = random.choice(programs)
        try:
            with signals(within=0.02):
                run()
        except KeyboardInterrupt:
            interrupts += 1
        torch.set_grad_enabled(
            True
        )  # it may have come as a `no_grad` ended, before that did anything
        if interrupts % 20 == 0:
            assert alive(simulator) == objects
            run()
            assert simulator.findings() == []
    assert interrupts > 10
    assert alive(simulator) == objects
    assert free_for_another_thread()
    assert kept.cpu().tolist() == list(range(1000))


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_op_comes_in_at_any_instant(npu, simulator, name):
    """As those of finalisers and signal handlers do."""
    run = PROGRAMS[name]()
    for _ in range(3):
        run()
    found = []

    def op():
        found.append((torch.full((300,), 3.0, device="npu") * 2).sum().item())

    within = Instants(of_plugin)
    within.run(run)
    for at in tried(within.seen):
        found.clear()
        try:
            within.run(run, at, op)
        except Exception as error:
            error.add_note(f"{within.place} ({at} of seed {SEED})")
            raise
        assert found == [1800.0] or within.place is None, f"{within.place} ({at} of seed {SEED})"
    assert simulator.findings() == []
    assert free_for_another_thread()


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_op_of_another_device_comes_in_while_operators_are_launched(npu, simulator, name):
    """It leaves the thread with the other device's context, in which the launch would fail."""
    run = PROGRAMS[name]()
    for _ in range(3):
        run()
    found = []
    within = Instants(lambda code: code.co_filename.endswith("launching.py"))
    within.run(run)
    for at in range(1, min(within.seen, 20) + 1):
        within.run(run, at, lambda: found.append((torch.ones(3, device="npu:1") * 2).tolist()))
        assert within.place is not None
    assert found == [[2.0] * 3] * min(within.seen, 20)
    assert simulator.findings() == []
