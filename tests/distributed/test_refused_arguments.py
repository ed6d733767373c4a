"""What collective operations, groups and meshes refuse before anything is sent: each names the argument."""

import re

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.communication.rendezvous import rendezvous
from mindtorch_core.distributed.tensor import DTensor, Shard, zeros
from mindtorch_nn.parallel import DistributedDataParallel


class Wrapper(torch.Tensor):
    """A tensor that has no elements of its own."""

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        raise AssertionError(function)


@pytest.fixture
def mesh():
    dist.init_process_group("fake", rank=0, world_size=2)
    yield dist.init_device_mesh("cpu", (2,))
    dist.destroy_process_group()


t = torch.zeros(5)
SENT = {
    "all_reduce": dist.all_reduce,
    "reduce": lambda x: dist.reduce(x, 0),
    "broadcast": lambda x: dist.broadcast(x, 0),
    "all_gather": lambda x: dist.all_gather([t, t], x),
    "all_gather, outputs": lambda x: dist.all_gather([t, x], t),
    "all_gather_single": lambda x: dist.all_gather_single(torch.zeros(10), x),
    "gather": lambda x: dist.gather(x, [t, t]),
    "scatter": lambda x: dist.scatter(t, [t, x]),
    "reduce_scatter": lambda x: dist.reduce_scatter(t, [x, t]),
    "reduce_scatter_single": lambda x: dist.reduce_scatter_single(torch.zeros(1), x),
    "all_to_all": lambda x: dist.all_to_all([t, t], [x, t]),
    "all_to_all_single": lambda x: dist.all_to_all_single(t, x, [2, 3], [2, 3]),
    "send": lambda x: dist.send(x, 1),
    "irecv": lambda x: dist.irecv(x, 1),
}


@pytest.mark.parametrize("name", SENT)
def test_tensors_without_memory_of_their_own(mesh, name):
    cut = zeros(5, device_mesh=mesh, placements=[Shard(0)])
    with pytest.raises(NotImplementedError, match=r"is a DTensor, .*send to_local\(\)"):
        SENT[name](cut)
    with pytest.raises(
        NotImplementedError, match=r"is a Wrapper, which has no elements of its own"
    ):
        SENT[name](Wrapper._make_wrapper_subclass(Wrapper, (5,)))


def test_data_parallel_takes_no_parts(mesh):
    model = torch.nn.Linear(2, 5)
    model.bias = torch.nn.Parameter(zeros(5, device_mesh=mesh, placements=[Shard(0)]))
    with pytest.raises(NotImplementedError, match="does not sum gradients of DTensors"):
        DistributedDataParallel(model)


@pytest.mark.usefixtures("mesh")
def test_data_parallel_takes_no_parameters_that_are_still_to_get_their_shapes():
    with pytest.raises(RuntimeError, match="Modules with uninitialized parameters can't be used"):
        DistributedDataParallel(torch.nn.LazyLinear(2))


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: dist.broadcast(t, "0"), TypeError, "src must be a whole number, got '0'"),
        (lambda: dist.reduce(t, 0.5), TypeError, "dst must be a whole number, got 0.5"),
        (lambda: dist.send(t, "1"), TypeError, "dst must be a whole number, got '1'"),
        (lambda: dist.send(t, 1, tag="a"), TypeError, "tag must be a whole number, got 'a'"),
        (lambda: dist.irecv(t, 1, tag=-1), RuntimeError, "Tag must be nonnegative, got -1"),
        (
            lambda: dist.all_to_all_single(t, t, [6, -1], [6, -1]),
            RuntimeError,
            "Split sizes must not be negative, got [6, -1]",
        ),
        (lambda: dist.init_device_mesh("cpu", (-1,)), RuntimeError, "no negative sizes, got (-1,)"),
        (
            lambda: DTensor.from_local(DTensor.from_local(t)),
            RuntimeError,
            "the local_tensor argument only accepts torch.Tensor but got",
        ),
    ],
)
def test_arguments_of_calls(mesh, call, kind, text):
    with mesh, pytest.raises(kind, match=re.escape(text)):
        call()


@pytest.mark.parametrize(
    ("backend", "text"),
    [
        (5, "must be string-ish, got 5"),
        ("cpu:fake,cpu:fake", "Duplicate device type cpu in backend string: cpu:fake,cpu:fake"),
    ],
)
def test_backends(backend, text):
    with pytest.raises(ValueError, match=text):
        dist.init_process_group(backend, rank=0, world_size=1)
    assert not dist.is_initialized()


@pytest.mark.parametrize("url", ["tcp://127.0.0.1:9", "file:///nowhere", "env://"])
def test_a_rank_that_is_none_of_the_worlds_waits_for_nobody(monkeypatch, url):
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    monkeypatch.setenv("MASTER_PORT", "9")
    with pytest.raises(ValueError, match="rank 2 is none of 2 processes"):
        next(rendezvous(url, 2, 2))


UNFIT = {
    "root": (lambda: dist.broadcast(t, 5), ValueError),
    "position of a root": (lambda: dist.reduce(t, group_dst=2), ValueError),
    "list": (lambda: dist.all_gather([t], t), ValueError),
    "shape": (lambda: dist.all_gather([torch.zeros(4), t], t), ValueError),
    "dtype": (lambda: dist.reduce_scatter(t, [t.int(), t.int()]), ValueError),
    "lists": (lambda: dist.all_to_all([t], [t]), ValueError),
    "dtypes": (lambda: dist.all_to_all_single(t, t.int(), [2, 3], [2, 3]), ValueError),
    "whole": (lambda: dist.all_gather_single(t, t), ValueError),
    "whole's dtype": (lambda: dist.reduce_scatter_single(t, torch.zeros(10).int()), TypeError),
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_engines_of_pytorch_refuse_by_either_type(mesh, name):
    call, kind = UNFIT[name]
    for each in (kind, RuntimeError):  # NCCL's and gloo's
        with pytest.raises(each):
            call()


def test_ranks_are_asked_of_groups_alone(mesh):
    for ask in (dist.get_rank, dist.get_world_size):
        with pytest.raises(ValueError, match="Invalid process group specified: 'x'"):
            ask("x")
        assert ask(dist.GroupMember.NON_GROUP_MEMBER) == -1
