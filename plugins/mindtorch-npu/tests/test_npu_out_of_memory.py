"""Memory that runs out anywhere: one error says so, nothing leaks, and the next step works.

`MINDTORCH_NPU_SECONDS` is how long each test goes on at most, and `ATTACK_SEED` repeats what has failed.
"""

import gc
import os
import random
import time

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch import current_pipeline
from mindtorch_core.dispatch.masks import MASKS

SECONDS = float(os.environ.get("MINDTORCH_NPU_SECONDS", "2"))
SEED = os.environ.get("ATTACK_SEED")
MIB = 1 << 20
N = 1 << 20  # elements, of 4 MiB: a few fill a segment


class Operands:
    """On the device; programs write into ``w`` only."""

    def __init__(self):
        self.host = torch.arange(float(N)).remainder(7) - 3
        self.a = self.host.to("npu")
        self.leaf = (self.a * 0.5).requires_grad_()
        self.w = torch.ones(N, device="npu")

    def values(self):
        return [t.detach().cpu().numpy().tobytes() for t in (self.a, self.leaf)]


def eager(o):
    return [(o.a * 2 + o.leaf.detach()).relu(), torch.cat([o.a, o.a]).sum()]


def in_a_pipeline(o):
    with torch.pipeline():
        b = (o.a * 2 + 1).relu()
        return [b, (b - o.a).sum()]


def backward(o):
    loss = ((o.leaf * o.a).tanh() * o.leaf).sum()
    return list(torch.autograd.grad(loss, [o.leaf]))


def backward_of_a_pipeline(o):
    with torch.pipeline():
        return list(torch.autograd.grad((o.leaf * o.a * o.leaf).sum(), [o.leaf]))


def update(o):
    with torch.no_grad():
        momentum = o.a * 0.9
        momentum.add_(o.a, alpha=0.1)
        o.w.sub_(momentum / (o.a.abs() + 1), alpha=0.5)
    return [o.w]


def copies(o):
    there = o.host.to("npu")
    return [there.double(), (there + 1).to("npu:1"), o.a.view(1024, 1024).t().contiguous()]


PROGRAMS = [eager, in_a_pipeline, backward, backward_of_a_pipeline, update, copies]


def results(run, o):
    return [t.detach().cpu().numpy().tobytes() for t in run(o)]


def settled(npu):
    gc.collect()
    npu.synchronize()
    npu.empty_cache()
    return npu.memory_allocated()


def is_out_of_memory(error):
    return isinstance(error.__cause__ if isinstance(error, torch.PipelineError) else error,
                      torch.OutOfMemoryError)  # fmt: skip


@pytest.fixture
def limit(npu, simulator):
    """Sets how much memory there is; back to normal without an argument, and after the test."""
    total = npu.mem_get_info()[1]

    def change(size=total):
        simulator.set_memory_limit(size)

    yield change
    change()


@pytest.mark.parametrize("run", PROGRAMS, ids=lambda p: p.__name__)
def test_out_of_memory(npu, simulator, limit, run):
    o = Operands()
    expected, kept, end, failures = results(run, o), o.values(), time.monotonic() + SECONDS, 0
    o.w = torch.ones(N, device="npu")
    allocated = settled(npu)
    seed = int(SEED or 0)
    while time.monotonic() < end or not failures:
        settled(npu)
        limit(npu.memory_reserved() + random.Random(seed).randrange(60 * MIB))
        raised = None
        try:
            run(o)
        except (torch.OutOfMemoryError, torch.PipelineError) as error:
            raised = repr(error) if not is_out_of_memory(error) else ""
        limit()
        failures += raised is not None
        assert not raised, f"{raised} (ATTACK_SEED={seed})"
        assert (MASKS.include, MASKS.keep, torch.is_grad_enabled()) == (0, -1, True), seed
        assert current_pipeline() is None
        o.w = torch.ones(N, device="npu")
        assert settled(npu) == allocated, f"memory is lost (ATTACK_SEED={seed})"
        assert o.values() == kept, f"an operand has changed (ATTACK_SEED={seed})"
        assert results(run, o) == expected, f"the next step differs (ATTACK_SEED={seed})"
        o.w = torch.ones(N, device="npu")
        seed += 1
        if SEED is not None or seed > 10_000:
            break
    assert simulator.findings() == []
