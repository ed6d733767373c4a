"""Blocks whose calls are waited for together."""

import re

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


def test_calls_are_made_at_the_end_with_what_pytorch_gives_for_them():
    x, out = torch.ones(3), torch.ones(6)
    with dist._coalescing_manager() as manager:
        assert dist.all_reduce(x, dist.ReduceOp.AVG) is None
        work = dist.all_reduce(x, dist.ReduceOp.AVG, async_op=True)
        dist.broadcast(out, 0)  # of another function: at once
        assert x.tolist() == [1] * 3
    assert x.tolist() == [0.25] * 3
    with pytest.raises(ValueError, match="Illegal to call wait on IllegalWork object"):
        work.wait()
    assert type(work) is dist._IllegalWork
    assert len(manager.works) == 1


@pytest.mark.parametrize(
    ("calls", "kind", "text"),
    [
        (
            lambda x: (dist.all_reduce(x), dist.all_gather_single(torch.ones(6), x)),
            RuntimeError,
            "Coalescing manager requires all collectives to be the same type, but got mixed types",
        ),
        (
            lambda x: (dist.all_reduce(x), dist.all_reduce(x.double())),
            ValueError,
            "different dtypesFound torch.float32 and  torch.float64",
        ),
        (lambda x: dist.all_reduce([x]), TypeError, "Expected parameter `tensor` of type"),
        (
            lambda x: dist.all_reduce(x.to_sparse()),
            NotImplementedError,
            "unsupported layout torch.sparse_coo",
        ),
        (
            lambda x: (dist.all_reduce(x), dist._coalescing_manager().__enter__()),
            ValueError,
            "ProcessGroup has non-empty op list at the start of coalescing",
        ),
        (
            lambda x: dist.all_gather_single(torch.ones(5), x),
            ValueError,
            "output tensor size must be equal to world_size times input tensor size",
        ),
    ],
)
def test_blocks_that_are_refused_call_nothing(calls, kind, text):
    made = dist.group.WORLD.calls_made()
    with pytest.raises(kind, match=re.escape(text)), dist._coalescing_manager():
        calls(torch.ones(3))
    assert dist.group.WORLD.calls_made() == made
    with dist._coalescing_manager():
        dist.all_reduce(torch.ones(3))
    assert dist.group.WORLD.calls_made() == made + 1


def test_a_block_is_of_one_group():
    other, x, y = dist.new_group([0]), torch.ones(3), torch.ones(3)
    with dist._coalescing_manager(other), dist._coalescing_manager():
        dist.all_reduce(x, dist.ReduceOp.AVG)
        dist.all_reduce(y, dist.ReduceOp.AVG, other)
        made = dist.group.WORLD.calls_made(), other.calls_made()
    assert dist.group.WORLD.calls_made() == made[0] + 1
    assert other.calls_made() == made[1] + 1
    with dist._coalescing_manager(other):
        dist.all_reduce(x, dist.ReduceOp.AVG)
        assert x.tolist() == [0.25] * 3


def test_functional_collectives_and_objects_in_a_block_are_made_at_once():
    found = [None, None]
    with dist._coalescing_manager():
        total = dist._functional_collectives.all_reduce(torch.ones(3), "avg", dist.group.WORLD)
        assert total.tolist() == [0.5] * 3
        dist.all_gather_object(found, "an object")
        assert found[0] == "an object"


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda x: dist.all_reduce_coalesced([x, x.double()]),
            ValueError,
            "different dtypesFound torch.float32 and  torch.float64",
        ),
        (
            lambda x: dist.all_gather_coalesced([[x, x.double()]] * 2, [x, x.double()]),
            ValueError,
            "different dtypesFound torch.float32 and  torch.float64",
        ),
        (
            lambda x: dist.all_gather_coalesced([[x]] * 2, [x, x]),
            RuntimeError,
            "all_gather_coalesced: invalid output size: (expected length 2, got 1)",
        ),
        (
            lambda x: dist.all_reduce_coalesced([x, x.to_sparse()]),
            NotImplementedError,
            "tensors is a SparseTensor, which has no elements of its own to send",
        ),
        (lambda x: dist.all_gather_coalesced([[x, x]], [x, x]), ValueError, "must have 2 tensors"),
    ],
)
@pytest.mark.filterwarnings("ignore:.* will be deprecated:FutureWarning")
def test_lists_that_are_refused_call_nothing(call, kind, text):
    made = dist.group.WORLD.calls_made()
    with pytest.raises(kind, match=re.escape(text)):
        call(torch.ones(3))
    assert dist.group.WORLD.calls_made() == made


def test_layers_in_a_block_make_their_calls_at_once():
    nn = pytest.importorskip("mindtorch_nn")
    sharded = dist.fsdp.fully_shard(nn.Linear(4, 4))
    summed = nn.parallel.DistributedDataParallel(nn.Linear(4, 4))
    for each, calls in ((sharded, 2), (summed, 1)):  # all_gather and reduce_scatter; all_reduce
        with dist._coalescing_manager() as manager:
            before = dist.group.WORLD.calls_made()
            each(torch.ones(2, 4)).sum().backward()
            assert dist.group.WORLD.calls_made() == before + calls
        assert all(work.is_completed() for work in manager.works)


def test_a_captured_function_names_the_line_of_a_block():
    def step(x):
        with dist._coalescing_manager():
            dist.all_reduce(x)
        return x

    with pytest.raises(torch.CaptureError, match=r"all_reduce_coalesced\(\) at .*test_coalescing"):
        torch.pipeline.capture(step)(torch.ones(2))
