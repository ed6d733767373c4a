"""Pooling of a few images at a time gives what pooling of all at once does, whichever thread takes them."""

import pytest

import mindtorch_core as torch
from mindtorch_cpu.ops import pooling

F = torch.nn.functional
CALLS = {
    "max": lambda x: F.max_pool2d(x, 3, 2, 1),
    "average": lambda x: F.avg_pool2d(x, 2),
    "average with a border": lambda x: F.avg_pool2d(x, 3, 1, 1, count_include_pad=False),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_blocks_and_threads_change_no_bit(call, monkeypatch):
    threads, made = torch.get_num_threads(), []
    x = torch.randn(5, 9, 30, 31).requires_grad_()
    try:
        for count, block in ((1, 1 << 30), (1, 1), (4, 1), (4, 5000)):
            torch.set_num_threads(count)
            monkeypatch.setattr(pooling, "_BLOCK", block)
            y = call(x)
            made.append((y, *torch.autograd.grad(y, x, y.detach())))
    finally:
        torch.set_num_threads(threads)
    for other in made[1:]:
        assert all(torch.equal(a, b) for a, b in zip(made[0], other, strict=True))
