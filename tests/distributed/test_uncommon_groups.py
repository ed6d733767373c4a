"""Calls of a group of one process, of which few programs make use: by lists, by methods, by environment."""

import socket
import warnings
from datetime import timedelta

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.communication.launchers import free_port
from mindtorch_core.communication.reductions import Premultiplied, reduce_op_named
from mindtorch_core.distributed import _functional_collectives as functional


@pytest.fixture
def world():
    dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
    yield dist.group.WORLD
    dist.destroy_process_group()


def t(*values):
    return torch.tensor(values or (1.0, 2.0))


CALLS = {
    "allreduce": lambda g, x, out: g.allreduce([x]),
    "allreduce of one": lambda g, x, out: g.allreduce(x, dist.ReduceOp.MAX),
    "allreduce, options": lambda g, x, out: g.allreduce([x], dist.AllreduceOptions()),
    "allreduce_coalesced": lambda g, x, out: g.allreduce_coalesced([x, t(5.0)]),
    "broadcast": lambda g, x, out: g.broadcast([x], 0),
    "broadcast, options": lambda g, x, out: g.broadcast([x], dist.BroadcastOptions()),
    "reduce": lambda g, x, out: g.reduce([x], dist.ReduceOptions()),
    "allgather": lambda g, x, out: g.allgather([[out]], [x]),
    "allgather of one": lambda g, x, out: g.allgather([out], x),
    "allgather_coalesced": lambda g, x, out: g.allgather_coalesced([[out]], [x]),
    "_allgather_base": lambda g, x, out: g._allgather_base(out, x),
    "gather": lambda g, x, out: g.gather([[out]], [x]),
    "scatter": lambda g, x, out: g.scatter([out], [[x]]),
    "reduce_scatter": lambda g, x, out: g.reduce_scatter([out], [[x]]),
    "_reduce_scatter_base": lambda g, x, out: g._reduce_scatter_base(out, x),
    "alltoall": lambda g, x, out: g.alltoall([out], [x]),
    "alltoall_base": lambda g, x, out: g.alltoall_base(out, x, [], []),
    "alltoall_base, sizes": lambda g, x, out: g.alltoall_base(out, x, [2], [2]),
}


@pytest.mark.parametrize("name", CALLS)
def test_methods_of_groups(world, name):
    """With lists for the devices of a process, as PyTorch has it, and without."""
    x, out = t(), t(1.0, 2.0) * 0
    work = CALLS[name](world, x, out)
    assert work.wait(timedelta(seconds=5))
    assert work.is_completed()
    assert work.is_success()
    assert work.exception() is None
    assert x.tolist() == [1.0, 2.0]
    writes_x = name.split()[0].strip(",") in (
        "allreduce",
        "allreduce_coalesced",
        "broadcast",
        "reduce",
    )
    assert out.tolist() == ([0.0, 0.0] if writes_x else [1.0, 2.0])


REFUSED = [
    (lambda g: g.allreduce([t(), t()]), RuntimeError, "allreduce: takes one tensor, got 2"),
    (lambda g: g.allreduce(3), TypeError, "allreduce"),
    (lambda g: g.allreduce([3]), TypeError, "allreduce"),
    (
        lambda g: g.allgather([[t()], [t()]], [t()]),
        RuntimeError,
        "takes one list of tensors, got 2",
    ),
    (lambda g: g.allgather(3, [t()]), TypeError, "allgather"),
    (lambda g: g.allreduce([t()], dist.BroadcastOptions()), TypeError, "allreduce"),
    (lambda g: g.broadcast([t()], dist.AllreduceOptions()), TypeError, "broadcast"),
    (lambda g: g.broadcast([t()], "a"), TypeError, "broadcast"),
    (lambda g: g.broadcast([t()], True), TypeError, "broadcast"),
    (
        lambda g: g.reduce_scatter([t()], [[t()]], dist.ReduceOp.SUM, op=dist.ReduceOp.MAX),
        TypeError,
        "red",
    ),
    (
        lambda g: g._get_backend("npu"),
        RuntimeError,
        "No backend type associated with device type npu",
    ),
    (lambda g: reduce_op_named("premul_sum"), ValueError, "Unknown reduce op 'premul_sum'"),
    (lambda g: reduce_op_named("mean"), ValueError, "Unknown reduce op 'mean'"),
]


@pytest.mark.parametrize(("call", "kind", "text"), REFUSED)
def test_refused_methods(world, call, kind, text):
    with pytest.raises(kind, match=text):
        call(world)


def test_what_a_group_says_of_itself(world):
    world.set_timeout(timedelta(seconds=3))
    assert world.timeout == timedelta(seconds=3)
    assert world._get_backend_name() == dist.get_backend() == "gloo"
    assert [d.type for d in world._device_types] == ["cpu"]
    face = world._get_backend(torch.device("cpu"))
    assert isinstance(face, dist.ProcessGroupGloo)
    face._set_default_timeout(timedelta(seconds=4))
    assert world.timeout == timedelta(seconds=4)
    world.get_group_store().set("k", "v")
    assert world.store.get("k") == b"v"
    assert dist.ProcessGroupGloo.create_default_device() is not None
    before = dist.get_pg_count()
    group = dist.new_group([0])
    assert dist.get_pg_count() == before + 1
    assert dist.get_global_rank(group, 0) == dist.get_group_rank(group, 0) == 0
    group.abort()
    dist.destroy_process_group(group)
    assert dist.get_pg_count() == before
    assert dist.destroy_process_group(dist.GroupMember.NON_GROUP_MEMBER) is None


def test_factors_of_a_rank(world):
    op = Premultiplied(3.0)
    assert repr(op) == "<RedOpType.PREMUL_SUM: 3.0>"
    x, out = t(), t() * 0
    dist.all_reduce(x, op)
    assert x.tolist() == [3.0, 6.0]
    given = t()
    dist.reduce_scatter_single(out, given, op)
    assert (out.tolist(), given.tolist()) == ([3.0, 6.0], [1.0, 2.0])
    with pytest.raises(RuntimeError, match=r"ReduceOp.PREMUL_SUM with torch.bool"):
        dist.all_reduce(t() > 0, op)


@pytest.mark.parametrize("op", [dist.ReduceOp.SUM, dist.ReduceOp.AVG])
def test_sums_of_sparse_tensors(world, op):
    x = torch.sparse_coo_tensor(torch.tensor([[1, 1]]), torch.tensor([2.0, 3.0]), (3,))
    dist.all_reduce(x, op)
    assert x.to_dense().tolist() == [0.0, 5.0, 0.0]
    assert x.is_coalesced()


@pytest.mark.parametrize(
    ("x", "op", "text"),
    [
        (lambda: t(0.0, 1.0).to_sparse(), dist.ReduceOp.MAX, "unsupported reduction operation"),
        (lambda: torch.eye(2).to_sparse_csr(), dist.ReduceOp.SUM, "it takes sparse_coo"),
    ],
)
def test_refused_sums_of_sparse_tensors(world, x, op, text):
    with pytest.raises(RuntimeError, match=text):
        dist.all_reduce(x(), op)


def test_outside_of_a_group(world):
    """Calls on the object that stands for groups without this process do nothing."""
    outside = dist.GroupMember.NON_GROUP_MEMBER
    kept, x = [None], t()
    calls = [
        lambda: dist.gather_object(1, kept, group=outside),
        lambda: dist.all_gather_object(kept, 1, group=outside),
        lambda: dist.scatter_object_list(kept, [1], group=outside),
        lambda: dist.broadcast_object_list(kept, 0, group=outside),
        lambda: dist.send_object_list([1], 0, group=outside),
        lambda: dist.monitored_barrier(outside),
        lambda: dist.barrier(outside),
        lambda: dist.broadcast(x, 0, group=outside),
        lambda: dist.reduce(x, 0, group=outside),
        lambda: dist.all_gather([x], x, group=outside),
        lambda: dist.gather(x, [x], group=outside),
        lambda: dist.scatter(x, [x], group=outside),
        lambda: dist.reduce_scatter(x, [x], group=outside),
        lambda: dist.reduce_scatter_single(x, x, group=outside),
        lambda: dist.all_gather_single(x, x, group=outside),
        lambda: dist.all_to_all([x], [x], group=outside),
        lambda: dist.all_to_all_single(x, x, group=outside),
        lambda: dist.all_reduce_coalesced([x], group=outside),
        lambda: dist.all_gather_coalesced([[x]], [x], group=outside),
        lambda: dist.isend(x, 0, group=outside),
        lambda: dist.irecv(x, 0, group=outside),
        lambda: dist.send(x, 0, group=outside),
    ]
    for call in calls:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert call() is None
        assert any("does not belong to the given group" in str(each.message) for each in said)
    for call in (dist.recv_object_list, dist.recv):
        with pytest.warns(UserWarning, match="does not belong to the given group"):
            assert call(x if call is dist.recv else kept, 0, group=outside) == -1
    assert (kept, x.tolist()) == ([None], [1.0, 2.0])


@pytest.mark.parametrize(
    ("environment", "fallback", "wanted"),
    [({"LOCAL_RANK": "3"}, None, 3), ({"LOCAL_RANK": "3"}, 1, 3), ({}, 2, 2)],
)
def test_which_process_of_a_machine(monkeypatch, environment, fallback, wanted):
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert dist.get_node_local_rank(fallback) == wanted


def test_no_process_of_a_machine(monkeypatch):
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    with pytest.raises(RuntimeError, match="LOCAL_RANK is not in the environment"):
        dist.get_node_local_rank()


def test_levels_of_what_is_told(monkeypatch):
    before = dist.get_debug_level()
    try:
        dist.set_debug_level(dist.DebugLevel.DETAIL)
        assert dist.get_debug_level() is dist.DebugLevel.DETAIL
        for text, level in (("info", "INFO"), ("OFF", "OFF")):
            monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", text)
            dist.set_debug_level_from_env()
            assert dist.get_debug_level() is dist.DebugLevel[level]
        monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", "loud")
        with pytest.raises(
            RuntimeError, match="must be one of OFF, INFO, or DETAIL, and is 'LOUD'"
        ):
            dist.set_debug_level_from_env()
        assert dist.get_debug_level() is dist.DebugLevel.OFF
        monkeypatch.delenv("TORCH_DISTRIBUTED_DEBUG")
        dist.set_debug_level(dist.DebugLevel.INFO)
        dist.set_debug_level_from_env()
        assert dist.get_debug_level() is dist.DebugLevel.OFF
    finally:
        dist.set_debug_level(before)


def test_stores_that_lack_queues(tmp_path):
    store = dist.FileStore(str(tmp_path / "s"), 1)
    prefixed = dist.PrefixStore("p", store)
    prefixed.set("k", "v")
    assert prefixed.num_keys() == store.num_keys()
    assert store.get("p/k") == b"v"
    assert store.clone() is store
    assert not store.has_extended_api()
    with pytest.raises(NotImplementedError, match="queue support is not implemented"):
        store.queue_pop("k")
    with pytest.raises(NotImplementedError, match="queue support is not implemented"):
        store.queue_len("k")


def test_keys_of_a_served_store():
    store = dist.TCPStore("localhost", 0, 1, True, timedelta(seconds=5))
    before = store.num_keys()
    store.set("a", "1")
    store.set("b", "2")
    assert store.num_keys() == before + 2
    assert store.delete_key("a")
    assert store.num_keys() == before + 1


def test_futures_take_errors_alone():
    future = torch.futures.Future()
    with pytest.raises(AssertionError, match=r"'text' is of type .*, not an Exception"):
        future.set_exception("text")
    assert not future.done()
    future.set_exception(ValueError("x"))
    with pytest.raises(ValueError, match="x"):
        future.wait()


def test_ports_where_nobody_listens():
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        assert 20_000 <= port < 32_000


@pytest.mark.parametrize("reduction", ["max", "MIN", "product"])
def test_gradients_of_sums_and_means_alone(world, reduction):
    x = t().requires_grad_()
    with pytest.raises(RuntimeError, match="has a gradient for 'sum' and 'avg', not for"):
        functional.all_reduce(x, reduction, world).sum().backward()
    functional.all_reduce(x, "sum", world).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
