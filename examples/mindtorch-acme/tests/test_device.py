"""What only this device does. What every backend has to do is tested by ``mindtorch verify acme``."""

import re
import threading

import numpy as np
import pytest
from mindtorch_acme.chip import Mark, Queue
from mindtorch_acme.kernels import KERNELS
from mindtorch_acme.runtime import RUNTIME

import mindtorch_core as torch
from mindtorch_core.cli import main


@pytest.fixture
def gate():
    """Holds up the first chip's default stream until it is set."""
    opened = threading.Event()
    RUNTIME.send(torch.device("acme", 0), "the gate", opened.wait)
    yield opened
    opened.set()
    torch.acme.synchronize()


def test_there_are_kernels_for_all_primitives():
    from mindtorch_core.inspection import coverage

    found = coverage("acme")
    assert [op.op for op in found.primitives if op.served != "kernel"] == []
    assert len(found.primitives) == len(KERNELS)


def test_the_host_cannot_look_into_memory():
    t = torch.ones(3, device="acme")
    with pytest.raises(TypeError):
        memoryview(t.untyped_storage().memory)
    with pytest.raises(RuntimeError, match="the host cannot look into device memory"):
        t.raw_data.view()
    with pytest.raises(TypeError, match="can't convert acme:0 device type tensor to numpy"):
        np.asarray(t)


def test_ops_do_not_wait(gate):
    a = torch.ones(4, device="acme")
    b = (a * 2).sum()
    assert not torch.acme.is_idle()
    gate.set()
    assert b.item() == 8
    assert torch.acme.is_idle()


def test_other_streams_and_chips_go_on(gate):
    other = torch.acme.Stream("acme:0")
    with other:
        event = other.record_event()
        event.synchronize()
    assert torch.ones(2, device="acme:1").tolist() == [1.0, 1.0]
    assert not torch.acme.is_idle()


def test_a_queue_is_done_once_its_last_mark_is_passed():
    queue, seen, looked = Queue(), [], threading.Event()

    class Looking(Mark):
        def __call__(self):
            seen.append((queue.done(), self.passed()))
            super().__call__()
            seen.append((queue.done(), self.passed()))  # before the queue does anything else
            looked.set()

    queue.send([("work", int), ("mark", Looking())])
    looked.wait(60)
    assert seen == [(False, False), (True, True)]


def test_an_event_holds_a_stream(gate):
    main, side = torch.acme.current_stream(), torch.acme.Stream()
    a = torch.ones(2, device="acme")
    side.wait_stream(main)
    with side:
        b = a + 1
    assert not side.query()
    gate.set()
    side.synchronize()
    assert b.tolist() == [2.0, 2.0]


def test_memory_stays_while_queued_work_needs_it(gate):
    before = torch.acme.memory_allocated()
    a = torch.ones(1000, device="acme")
    b = a * 3
    del a
    assert torch.acme.memory_allocated() - before >= 8000
    gate.set()
    assert b.tolist() == [3.0] * 1000
    del b
    assert torch.acme.memory_allocated() == before
    assert torch.acme.max_memory_allocated() - before >= 8000


def test_what_fails_in_a_queue_is_told_once_by_whoever_waits():
    bad = torch.tensor([4], device="acme") // torch.tensor([0], device="acme")
    with pytest.raises(RuntimeError, match="floor_divide, which was queued earlier, failed: Zero"):
        torch.acme.synchronize()
    assert (torch.ones(1, device="acme") + 1).tolist() == [2.0]
    del bad


def test_more_memory_than_there_is():
    kept = [torch.empty(1 << 28, dtype=torch.uint8, device="acme:1") for _ in range(4)]
    with pytest.raises(torch.OutOfMemoryError, match=r"1 bytes do not fit .* on acme:1"):
        torch.empty(1, dtype=torch.uint8, device="acme:1")
    kept.clear()
    assert torch.acme.mem_get_info(1)[0] >= 1 << 30


def test_holes_that_touch_become_one():
    kept = [torch.empty(1 << 27, dtype=torch.uint8, device="acme:1") for _ in range(8)]
    del kept[2], kept[2]
    kept.append(torch.empty(1 << 28, dtype=torch.uint8, device="acme:1"))
    assert len({t.data_ptr() for t in kept}) == 7


def test_a_pipelines_work_goes_out_at_once(monkeypatch):
    from mindtorch_acme import chip

    sent = []
    send = chip.Queue.send
    monkeypatch.setattr(chip.Queue, "send", lambda q, jobs: (sent.append(len(jobs)), send(q, jobs)))
    a = torch.ones(4, device="acme")
    sent.clear()
    with torch.pipeline():
        b = ((a + a) * a).exp()
    assert sent == [3]
    assert b.shape == (4,)


def test_numbers_depend_on_the_seed_and_not_on_the_stream():
    torch.acme.manual_seed(3)
    a, b = torch.rand(4, device="acme"), torch.rand(4, device="acme")
    torch.acme.manual_seed(3)
    with torch.acme.Stream():
        c = torch.rand(4, device="acme")
    d = torch.rand(4, device="acme")
    torch.acme.synchronize()
    assert a.tolist() == c.tolist() != b.tolist() == d.tolist()
    with pytest.raises(RuntimeError, match="state has 16 bytes, this one has 3"):
        torch.acme.set_rng_state(torch.zeros(3, dtype=torch.uint8))


@pytest.mark.parametrize("value", [1.0, 1.00390625, 1.01171875, 3.4e38, float("inf"), 1e-40, -2.5])
def test_bfloat16_is_rounded_to_the_nearest(value):
    found = torch.tensor([value], device="acme").to(torch.bfloat16)
    assert found.tolist() == torch.tensor([value]).to(torch.bfloat16).tolist()


# ---- Acme's own op: one definition, and it is everywhere --------------------------------------


def test_the_own_op_has_gradients_and_works_elsewhere():
    a = torch.tensor([0.5, -2.0], device="acme", dtype=torch.float64, requires_grad=True)
    own = torch.ops.acme.softclip
    assert torch.autograd.gradcheck(own, (a, 2.0))
    torch.testing.assert_close(own(a).cpu(), own(a.cpu()))


def test_the_own_op_is_deferred():
    a = torch.ones(2, device="acme")
    with torch.pipeline() as pipe:
        b = torch.ops.acme.softclip(a + 1)
        assert b._pending
    assert pipe.stats()["recorded"] == 2
    torch.testing.assert_close(b.cpu(), torch.full((2,), 2.0).tanh())


def test_the_own_op_is_explained(capsys):
    assert main(["explain", "acme::softclip", "--device", "acme"]) == 0
    assert "CHOSEN   define_ops.softclip of mindtorch-acme" in capsys.readouterr().out


def test_the_own_op_is_in_the_kit(capsys):
    assert main(["verify", "acme", "--level", "core", "-k", "softclip"]) == 0
    passed = re.search(r"(\d+) passed", capsys.readouterr().out)
    assert int(passed[1]) >= 30
