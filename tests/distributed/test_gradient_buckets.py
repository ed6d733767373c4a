"""How the gradients of `DistributedDataParallel` are summed, bucket by bucket, without other processes."""

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist

nn = pytest.importorskip("mindtorch_nn")


@pytest.fixture
def sums(monkeypatch):
    """Whether each sum of gradients is left to another thread."""
    found = []
    call = dist.all_reduce

    def all_reduce(tensor, *args, async_op=False, **kwargs):
        found.append(async_op)
        return call(tensor, *args, async_op=async_op, **kwargs)

    monkeypatch.setattr(dist, "all_reduce", all_reduce)
    dist.init_process_group("fake", rank=0, world_size=2)
    yield found
    dist.destroy_process_group()


@pytest.mark.parametrize(("cap", "threads"), [(25, [False]), (0, [True, True])])
def test_an_only_sum_is_not_left_to_another_thread(sums, cap, threads):
    model = nn.parallel.DistributedDataParallel(nn.Linear(2, 2), bucket_cap_mb=cap)
    sums.clear()
    model(torch.ones(1, 2)).sum().backward()
    assert sums == threads
    # The others are taken to have the same sums, so that a mean is half of them.
    assert [p.grad.tolist() for p in model.parameters()] == [[[0.5, 0.5]] * 2, [0.5, 0.5]]
