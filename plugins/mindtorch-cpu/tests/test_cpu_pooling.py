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


@pytest.mark.parametrize("kind", ["max", "avg"])
def test_more_windows_than_memory_holds(kind):
    """They were counted one by one before anything was allocated: without an end."""
    for n in (1, 2, 3):
        pool = getattr(torch.nn.functional, f"adaptive_{kind}_pool{n}d")
        with pytest.raises(torch.OutOfMemoryError):
            pool(torch.ones(1, *(2,) * n), (*(2,) * (n - 1), 1 << 55))


@pytest.mark.parametrize("size", [1, 2, 5, 8])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 11, 16])
def test_windows_of_any_number(size, count):
    """Each holds what its first and last element say."""
    x = torch.arange(size * 2.0).reshape(1, 2, size).cos()
    ends = [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
    largest = [[max(row[a:b]) for a, b in ends] for row in x[0].tolist()]
    assert torch.nn.functional.adaptive_max_pool1d(x, count)[0].tolist() == largest
    means = torch.tensor([[sum(row[a:b]) / (b - a) for a, b in ends] for row in x[0].tolist()])
    torch.testing.assert_close(torch.nn.functional.adaptive_avg_pool1d(x, count)[0], means)
