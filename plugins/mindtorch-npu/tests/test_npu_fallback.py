"""What CANN cannot compute goes to the CPU, if the environment allows it."""

import inspect
import warnings

import pytest

import mindtorch_core as torch
import mindtorch_npu.fallback as fallback_module
from mindtorch_npu.fallback import VARIABLE
from mindtorch_npu.ops import KERNELS, STEPS, steps


@pytest.fixture(autouse=True)
def _forget(monkeypatch):
    """Each test starts as a new process does."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(fallback_module, "_told", set())
    monkeypatch.setattr(steps, "_refused", set())


def whole(npu):
    return torch.arange(6, device="npu").reshape(2, 3)


def test_warns_once_per_op(npu):
    x = whole(npu)
    with pytest.warns(
        UserWarning, match=r"aten::mm of torch.int64\[2, 3\].*computed on the CPU"
    ) as told:
        found = x @ x.t()
    assert VARIABLE in str(told[0].message)
    assert told[0].filename == __file__
    assert found.device.type == "npu"
    assert found.tolist() == [[5, 14], [14, 50]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x @ x.t()
    with pytest.warns(UserWarning, match="aten::special_i0e"):
        torch.special.i0e(x)


def test_warnings_of_gradients_name_the_line_of_backward(npu, monkeypatch):
    monkeypatch.setattr("mindtorch_npu.fallback._told", set())
    x, w = (torch.ones(2, 4, 1, dtype=torch.float64, device="npu") for _ in range(2))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        y = torch.nn.functional.conv1d(x, w.requires_grad_())
        line = inspect.currentframe().f_lineno + 1
        y.backward(torch.ones_like(y))
    assert [(each.filename, each.lineno) for each in told[-1:]] == [(__file__, line)]
    assert "aten::_convolution_weight of torch.float64[2, 4, 1]" in str(told[-1].message)


def test_silent(npu, monkeypatch):
    monkeypatch.setenv(VARIABLE, "silent")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (whole(npu) @ whole(npu).t()).tolist() == [[5, 14], [14, 50]]


def test_error_names_the_op_and_what_to_do(npu, monkeypatch):
    monkeypatch.setenv(VARIABLE, "error")
    with pytest.raises(NotImplementedError, match=r"aten::mm of torch.int64.*\n.*why.*\n.*fix"):
        whole(npu) @ whole(npu).t()
    with pytest.raises(NotImplementedError, match="aten::_fft_r2c"):
        torch.fft.rfft(torch.ones(4, device="npu"))
    assert (whole(npu) + 1).sum().item() == 21


def test_unknown_mode(npu, monkeypatch):
    monkeypatch.setenv(VARIABLE, "perhaps")
    with pytest.raises(RuntimeError, match="must be one of warn, error, silent, but is 'perhaps'"):
        whole(npu) @ whole(npu).t()


@pytest.mark.parametrize("asked", ["WARN", " warn ", ""])
def test_modes_are_read_leniently(npu, monkeypatch, asked):
    monkeypatch.setenv(VARIABLE, asked)
    with pytest.warns(UserWarning, match="aten::mm"):
        whole(npu) @ whole(npu).t()


def test_gradients_go_through(npu, monkeypatch):
    monkeypatch.setenv(VARIABLE, "silent")
    x = torch.tensor([[2.0, 1.0], [1.0, 3.0]], device="npu", requires_grad=True)
    inverse = torch.linalg.inv(x)
    inverse.sum().backward()
    host = x.detach().cpu().requires_grad_()
    torch.linalg.inv(host).sum().backward()
    torch.testing.assert_close(x.grad.cpu(), host.grad)


def test_what_was_written_comes_back(npu, monkeypatch):
    monkeypatch.setenv(VARIABLE, "silent")
    x = torch.tensor([0.5, 0.25], dtype=torch.float64, device="npu")
    same = x.digamma_()
    assert same is x
    torch.testing.assert_close(x.cpu(), torch.tensor([0.5, 0.25], dtype=torch.float64).digamma())


def test_a_refusal_of_phase_one_is_remembered(npu, simulator, monkeypatch):
    x = torch.ones(3, device="npu")
    simulator.inject("aclnnTanhGetWorkspaceSize:*=161002")
    with pytest.warns(UserWarning, match="aten::tanh of torch.float32"):
        assert x.tanh().cpu().allclose(torch.ones(3).tanh())
    simulator.clear_faults()
    calls = simulator.counters()["calls"].get("aclnnTanhGetWorkspaceSize", 0)
    x.tanh()
    assert simulator.counters()["calls"].get("aclnnTanhGetWorkspaceSize", 0) == calls
    x.half().tanh()
    assert simulator.counters()["calls"].get("aclnnTanhGetWorkspaceSize", 0) == calls + 1


def test_ops_with_parts_are_made_of_them_when_refused(npu, simulator):
    x = torch.tensor([-1.0, 2.0], device="npu")
    simulator.inject("aclnnReluGetWorkspaceSize:*=561003")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x.relu().tolist() == [0.0, 2.0]


def test_an_internal_failure_that_stays_is_a_refusal(npu, simulator):
    x = torch.tensor([-1.0, 2.0], device="npu")
    simulator.inject("aclnnReluGetWorkspaceSize:*=561000")
    for _ in range(2):
        assert x.relu().tolist() == [0.0, 2.0]
    assert simulator.faults()[0]["fired"] == 2  # tried, tried again, and then remembered
    live = simulator.live()
    assert not live.get("executor")
    assert not live.get("tensor")


def test_other_failures_are_errors(npu, simulator):
    x = torch.ones(3, device="npu")
    simulator.inject("aclnnTanhGetWorkspaceSize:1=561000")
    with pytest.raises(RuntimeError, match=r"aclnnTanhGetWorkspaceSize.*561000"):
        x.tanh()
    simulator.inject("aclnnTanh:1=161002")
    with pytest.raises(RuntimeError, match="161002"):
        x.tanh()
    assert x.tanh().cpu().allclose(torch.ones(3).tanh())


def test_nothing_is_registered_twice():
    assert not STEPS.keys() & KERNELS.keys()


@pytest.mark.parametrize("size", [(2, 1), (3,)])
def test_it_works_in_pipelines(npu, monkeypatch, size):
    monkeypatch.setenv(VARIABLE, "silent")
    with torch.pipeline():
        x = torch.full(size, 2, device="npu") * 3
        product = x.reshape(1, -1) @ x.reshape(-1, 1)
        after = product + 1
    assert after.tolist() == [[36 * x.numel() + 1]]
