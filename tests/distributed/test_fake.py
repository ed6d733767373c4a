"""The backend ``fake``: one process as one of many ranks, beside PyTorch's."""

from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist

PROGRAM = Path(__file__).parent / "programs" / "fake_calls.py"


def test_calls_give_what_they_give_in_pytorch(printed):
    pytest.importorskip("torch")
    pytest.importorskip("mindtorch_nn")
    assert printed("-m", "mindtorch_core", "run", PROGRAM) == printed(PROGRAM)


@pytest.fixture
def group():
    dist.init_process_group("fake", rank=2, world_size=1024)
    yield
    dist.destroy_process_group()


@pytest.mark.usefixtures("group")
def test_nobody_is_waited_for():
    assert (dist.get_rank(), dist.get_world_size()) == (2, 1024)
    dist.barrier()
    dist.monitored_barrier()
    part = dist.new_group([1, 2], use_local_synchronization=True)
    assert part.rank() == 1
    taken, given = torch.zeros(2048), torch.arange(2048.0)
    dist.all_to_all_single(taken, given)
    assert taken.nonzero().flatten().tolist() == [4, 5]
    kept = torch.zeros(1)
    dist.reduce_scatter_single(kept, torch.arange(1024.0))
    assert kept.item() == 2
    assert dist.get_process_group_ranks(part) == [1, 2]


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: dist.new_group("ab"), TypeError, "ranks must be a list of whole numbers, got 'ab'"),
        (lambda: dist.new_group([0.5, 2]), TypeError, "ranks must be a list of whole numbers"),
        (lambda: dist.new_group([2], timeout=3), TypeError, "of type datetime.timedelta, got 3"),
        (lambda: dist.new_group([2000]), ValueError, "Rank 2000 is out of range"),
        (lambda: dist.broadcast(torch.ones(1), 2000), ValueError, "Global rank 2000 is not part of"),
        (lambda: dist.all_reduce(3), TypeError, "Expected parameter `tensor` of type torch.Tensor"),
        (lambda: dist.all_reduce(torch.ones(1), op="sum"), TypeError, "op must be a ReduceOp"),
    ],
    ids=range(7),
)  # fmt: skip
def test_a_wrong_call_fails_at_the_users_line(call, kind, text):
    with pytest.raises(kind, match=text) as caught:
        call()
    assert Path(caught.traceback[-1].path) == Path(__file__)


@pytest.mark.usefixtures("group")
def test_objects_of_others_are_none():
    ours, theirs, mine = ["here"], ["kept?"], ["?"]
    dist.broadcast_object_list(ours, 2)
    dist.broadcast_object_list(theirs, 0)
    dist.scatter_object_list(mine, None, 0)
    assert (ours, theirs, mine) == (["here"], [None], [None])


@pytest.mark.usefixtures("group")
def test_data_parallel_training_keeps_this_ranks_gradients():
    nn = pytest.importorskip("mindtorch_nn")
    layer, alone = nn.Linear(3, 2), nn.Linear(3, 2)
    alone.load_state_dict(layer.state_dict())
    for each in (nn.parallel.DistributedDataParallel(layer), alone):
        each(torch.ones(2, 3)).sum().backward()
    # The sum over all ranks is left as it is, and divided by their number.
    assert torch.equal(layer.weight.grad * 1024, alone.weight.grad)


def test_who_it_is_can_stand_in_the_environment(monkeypatch):
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "5")
    dist.init_process_group("fake", store=dist.HashStore())
    assert (dist.get_rank(), dist.get_world_size()) == (3, 5)
    dist.destroy_process_group()
    with pytest.raises(ValueError, match="rank 5 is none of 5 processes"):
        dist.init_process_group("fake", rank=5)
    monkeypatch.delenv("WORLD_SIZE")
    with pytest.raises(ValueError, match="WORLD_SIZE expected"):
        dist.init_process_group("fake")
    assert not dist.is_initialized()


def test_every_key_of_its_store_is_there():
    from mindtorch_core.testing._internal.distributed.fake_pg import FakeStore

    store = FakeStore()
    store.set("a", "1")
    store.wait(["a", "b"])
    assert (store.get("a"), store.get("b"), store.check(["c"])) == (b"1", b"", True)
    dist.init_process_group("fake", rank=0, world_size=2, store=store)
    dist.destroy_process_group()
