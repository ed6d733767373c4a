"""Pipelines on NPUs: all of phase one first, one workspace, no waiting before somebody looks."""

import pytest
from npu_training import Training

import mindtorch_core as torch


def events(simulator, kind):
    return [e["name"] for e in simulator.log() if e["kind"] == kind]


def test_gives_the_eager_answer(npu):
    a = torch.tensor([1.0, -3.0], device="npu")
    b = torch.tensor([2.0, 1.0], device="npu")
    with torch.pipeline():
        c = (a + b).relu().sum()
        assert c._pending
        assert (c.shape, c.device.type) == ((), "npu")
        on_host = c.to("cpu")
        assert not c._pending
        assert on_host.item() == 3.0


def test_copies_are_recorded_between_what_both_devices_do(npu):
    x, w = torch.arange(4.0), torch.ones(4, device="npu")
    leaf = torch.ones(4, requires_grad=True)
    with torch.pipeline(through_backward=True) as pipe:
        y = (x * 2).to("npu")
        back = (y + w).cpu() + 1
        target = torch.zeros(4).copy_(w * 3)
        loss = ((leaf * 2).to("npu") * w).sum().cpu()
        loss.backward()
    assert pipe.stats()["flush_reasons"] == {"end of block": 1}
    assert (back.tolist(), target.tolist()) == ([2, 4, 6, 8], [3] * 4)
    assert (loss.item(), leaf.grad.tolist()) == (8, [2] * 4)


def test_phase_one_of_all_ops_comes_before_the_first_launch(npu, simulator):
    x = torch.ones(8, device="npu")
    torch.npu.synchronize()
    simulator.log(clear=True)
    with torch.pipeline():
        y = ((x + 1).exp() * 3).tanh()
        assert events(simulator, "call") == []
    calls = [n for n in events(simulator, "call") if n.startswith("aclnn")]
    first = [n.endswith("GetWorkspaceSize") for n in calls]
    assert first == [True] * 4 + [False] * 4
    assert [n + "GetWorkspaceSize" for n in calls[4:]] == calls[:4]
    assert events(simulator, "sync") == []
    assert torch.allclose(y.cpu(), ((torch.ones(8) + 1).exp() * 3).tanh())


def test_a_training_step_waits_once(npu, simulator):
    training = Training()
    with torch.pipeline():
        training.step()
    torch.npu.synchronize()
    simulator.log(clear=True)
    before = simulator.counters()["synchronizations"]
    with torch.pipeline():
        loss = training.step()
        value = loss.item()
    assert simulator.counters()["synchronizations"] == before + 1
    assert value > 0


@pytest.mark.parametrize("steps", [3])
def test_trains_as_eagerly(npu, steps):
    eager, piped = Training(), Training()
    for _ in range(steps):
        expected = eager.step()
        with torch.pipeline():
            found = piped.step()
        assert found.item() == expected.item()
    for one, other in zip(eager.parameters, piped.parameters, strict=True):
        assert torch.equal(one, other)


def test_intermediate_memory_serves_again(npu, simulator):
    x = torch.ones(1 << 20, device="npu")
    torch.npu.synchronize()
    torch.npu.reset_peak_memory_stats()
    start = torch.npu.memory_allocated()
    with torch.pipeline():
        y = x
        for _ in range(20):
            y = y + 1
    assert torch.npu.max_memory_allocated() - start <= 3 * x.nbytes
    assert y.cpu()[0].item() == 21.0


def test_copies_and_fallbacks_keep_their_place(npu, recwarn):
    x = torch.tensor([4.0, 1.0], device="npu", dtype=torch.float64)
    with torch.pipeline():
        y = (x + 1) * 2
        inverse = torch.linalg.inv(torch.diag(y))  # left to the CPU
        z = inverse @ y
        z.add_(1)
        moved = z.to("npu:1") if torch.npu.device_count() > 1 else z
        w = moved * 3
    assert w.cpu().tolist() == pytest.approx([6.0, 6.0])


def test_two_devices_in_one_pipeline(npu):
    if npu.device_count() < 2:
        pytest.fail("the simulator has two devices unless NPU_SIMULATOR_DEVICES says otherwise")
    one, other = torch.ones(4, device="npu:0"), torch.ones(4, device="npu:1")
    with torch.pipeline():
        a, b = one + 1, other + 2
        c = a * 2
        d = b * c.to("npu:1")
    assert (c.device.index, d.device.index) == (0, 1)
    assert d.tolist() == [12.0] * 4


def test_blocking_launches_are_not_collected(npu, simulator, monkeypatch):
    monkeypatch.setenv("ACL_LAUNCH_BLOCKING", "1")
    x = torch.ones(4, device="npu")
    simulator.reset()
    with torch.pipeline():
        y = (x + 1) * 2
    assert simulator.counters()["synchronizations"] >= 2
    assert y.tolist() == [4.0] * 4
