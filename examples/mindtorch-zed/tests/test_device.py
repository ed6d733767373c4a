"""What only this device does."""

import mindtorch_core as torch


def test_a_kernel_runs_on_the_device():
    t = torch.tensor([-1.0, 2.0], device="zed").relu()
    assert t.device == torch.device("zed:0")
    assert t.tolist() == [0.0, 2.0]


def test_what_has_no_kernel_comes_back_from_the_cpu():
    t = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device="zed", requires_grad=True)
    (t @ t).sum().backward()
    assert t.grad.device == t.device
    assert t.grad.tolist() == [[7.0, 11.0], [9.0, 13.0]]


def test_tensors_go_to_the_cpu_and_back():
    here = torch.arange(6).reshape(2, 3).t()
    assert here.to("zed").cpu().equal(here)
