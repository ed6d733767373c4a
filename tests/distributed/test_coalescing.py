"""Blocks whose calls are waited for together."""

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist


@pytest.fixture(autouse=True)
def group():
    dist.init_process_group("fake", rank=0, world_size=2)
    yield
    dist.destroy_process_group()


def test_a_block_waits_for_the_calls_that_are_begun_in_it():
    x, y = torch.ones(3), torch.ones(2)  # the mean is made when its sum is there
    with dist._coalescing_manager():
        dist.all_reduce(x, dist.ReduceOp.AVG, async_op=True)
        dist.all_reduce(y, dist.ReduceOp.AVG, async_op=True)
    assert (x.tolist(), y.tolist()) == ([0.5] * 3, [0.5] * 2)


def test_its_manager_waits_where_the_block_does_not():
    x, later = torch.ones(3), torch.ones(3)
    with dist._coalescing_manager(async_ops=True) as manager:
        dist.all_reduce(x, dist.ReduceOp.AVG, async_op=True)
    work = dist.all_reduce(later, dist.ReduceOp.AVG, async_op=True)  # none of the block's
    assert x.tolist() == [1] * 3
    manager.wait()
    assert (x.tolist(), later.tolist()) == ([0.5] * 3, [1] * 3)
    work.wait()


def test_an_error_in_a_block_ends_it():
    with pytest.raises(KeyError), dist._coalescing_manager() as manager:
        raise KeyError
    dist.all_reduce(torch.ones(3), async_op=True).wait()
    assert manager.works == []
