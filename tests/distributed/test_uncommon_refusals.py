"""What groups, meshes and DTensors refuse, told by tables: a call that nobody makes in a right program."""

from datetime import timedelta

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.distributed.tensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
)

RANK, WORLD = 1, 4


@pytest.fixture
def mesh():
    dist.init_process_group("fake", rank=RANK, world_size=WORLD)
    yield dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))
    dist.destroy_process_group()


def t(*shape):
    return torch.ones(*(shape or (4,)))


def spent():
    """A group that was destroyed."""
    group = dist.new_group([0, 1])
    dist.destroy_process_group(group)
    return group


GROUPS = [
    (lambda: dist.Backend(3), ValueError, "must be string-ish: got 3"),
    (
        lambda: dist.new_group([0, 0]),
        ValueError,
        r"must not contain duplicate entries, got \[0, 0\]",
    ),
    (lambda: dist.new_group([0, 4]), ValueError, "Rank 4 is out of range. Valid ranks are 0 to 3"),
    (lambda: dist.new_group([0] * 5), ValueError, "less or equal to the world size"),
    (lambda: dist.destroy_process_group(spent()), ValueError, "Invalid process group"),
    (lambda: dist.all_reduce(t(), group=spent()), ValueError, "it was destroyed"),
    (lambda: dist.all_reduce(t(), group=3), ValueError, "Invalid process group specified: 3"),
    (
        lambda: dist.get_global_rank(dist.new_group([0, 1]), 2),
        ValueError,
        "Group rank 2 is not part of",
    ),
    (
        lambda: dist.get_global_rank(dist.group.WORLD, -1),
        ValueError,
        "Group rank -1 is not part of",
    ),
    (
        lambda: dist.get_group_rank(dist.new_group([0, 1]), 2),
        ValueError,
        "Global rank 2 is not part of",
    ),
    (lambda: dist.new_subgroups(0), ValueError, r"'group_size' \(0\) must be positive"),
    (
        lambda: dist.new_subgroups(5),
        ValueError,
        r"'group_size' \(5\) must not exceed the world size",
    ),
    (lambda: dist.new_subgroups(3), ValueError, r"\(4\) must be divisible by 'group_size=3'"),
    (lambda: dist.broadcast(t()), ValueError, "Must specify src or group_src"),
    (lambda: dist.broadcast(t(), 0, group_src=0), ValueError, "Can't specify both group_src and"),
    (lambda: dist.broadcast(t(), group_src=4), ValueError, "group_src 4 is not a rank of"),
    (
        lambda: dist.gather(t(), [t()]),
        ValueError,
        "``gather_list`` must NOT be specified on non-dest",
    ),
    (
        lambda: dist.gather(t(), dst=RANK),
        ValueError,
        "``gather_list`` must be specified on destination",
    ),
    (
        lambda: dist.scatter(t(), [t()]),
        ValueError,
        "``scatter_list`` must NOT be specified on non-sou",
    ),
    (
        lambda: dist.scatter(t(), src=RANK),
        ValueError,
        "``scatter_list`` must be specified on source",
    ),
    (
        lambda: dist.gather_object(1, [None]),
        ValueError,
        "``object_gather_list`` must NOT be specified",
    ),
    (
        lambda: dist.gather_object(1, dst=RANK),
        ValueError,
        "``object_gather_list`` must be specified on",
    ),
    (lambda: dist.scatter_object_list([], [1]), ValueError, "to be a list of size at least 1"),
    (
        lambda: dist.scatter_object_list([0], [1], RANK),
        ValueError,
        "a list of one object for each rank",
    ),
    (lambda: dist.scatter_object_list([0], None, RANK), ValueError, "one object for each rank"),
    (
        lambda: dist.all_to_all_single(t(6), t(6)),
        RuntimeError,
        "does not divide equally across group",
    ),
    (
        lambda: dist.all_to_all_single(t(), t(), [1], [1]),
        RuntimeError,
        "splits not equal to group size",
    ),
    (
        lambda: dist.all_to_all_single(t(), t(), [2, 2, 1, -1], [1] * 4),
        RuntimeError,
        "must not be negative",
    ),
    (
        lambda: dist.all_to_all_single(t(), t(), [2] * 4, [1] * 4),
        RuntimeError,
        "doesn't match total dim",
    ),
    (
        lambda: dist.all_to_all([t()] * 4, [t()] * 3 + [t().double()]),
        ValueError,
        "tensors with different dtypes",
    ),
    (
        lambda: dist.all_to_all([t()] * 3, [t()] * 4),
        ValueError,
        "must have 4 tensors, one for each rank",
    ),
    (lambda: dist.P2POp(dist.all_reduce, t(), 0), ValueError, "Invalid ``op``"),
    (lambda: dist.batch_isend_irecv([]), ValueError, "Invalid ``p2p_op_list``"),
    (lambda: dist.batch_isend_irecv([3]), ValueError, "Invalid ``p2p_op_list``"),
    (
        lambda: dist.batch_isend_irecv(
            [dist.P2POp(dist.isend, t(), 0), dist.P2POp(dist.isend, t(), 0, dist.new_group([0, 1]))]
        ),
        ValueError,
        "All ops need to use the same group",
    ),
    (
        lambda: dist.all_reduce(torch.empty(2, device="meta")),
        ValueError,
        "on the device 'meta' and has",
    ),
    (lambda: dist.all_reduce(3), TypeError, "Expected parameter `tensor` of type torch.Tensor"),
    (lambda: dist.all_reduce(t(), 3), TypeError, "op must be a ReduceOp, got 3"),
    (
        lambda: dist.all_reduce(t(), dist.ReduceOp.PREMUL_SUM),
        ValueError,
        "PREMUL_SUM needs a factor",
    ),
    (
        lambda: dist.all_reduce(t(), dist.ReduceOp.BAND),
        RuntimeError,
        "ReduceOp.BAND with non-integral",
    ),
    (
        lambda: dist.all_reduce(t() > 0, dist.ReduceOp.AVG),
        RuntimeError,
        "ReduceOp.AVG with torch.bool",
    ),
    (
        lambda: dist.all_reduce(t().to(torch.complex64), dist.ReduceOp.MAX),
        ValueError,
        "does not support .* on complex tensors",
    ),
]


@pytest.mark.usefixtures("mesh")
@pytest.mark.parametrize(("call", "kind", "text"), GROUPS)
def test_refused_calls(call, kind, text):
    with pytest.raises(kind, match=text):
        call()
    x = t()
    dist.all_reduce(x)  # which goes on as if nothing had been
    assert x.tolist() == [1.0] * 4


MESHES = [
    (
        lambda m: dist.device_mesh.DeviceMesh("cpu", [0, 0]),
        RuntimeError,
        "cannot have a rank twice",
    ),
    (
        lambda m: dist.device_mesh.DeviceMesh("cpu", [0, 4]),
        RuntimeError,
        r"has ranks \[4\], but there",
    ),
    (
        lambda m: dist.device_mesh.DeviceMesh("cpu", [*range(5)]),
        RuntimeError,
        "not be bigger than default",
    ),
    (
        lambda m: m.get_group(),
        RuntimeError,
        "`mesh_dim` needs to be specified when device_mesh.ndim > 1",
    ),
    (lambda m: m.get_local_rank(), RuntimeError, "`mesh_dim` needs to be specified"),
    (lambda m: m.get_group("c"), KeyError, "c"),
    (lambda m: m["c"], KeyError, "c"),
    (
        lambda m: dist.device_mesh.DeviceMesh("cpu", [2, 3]).get_group(),
        RuntimeError,
        "rank 1 is not in",
    ),
    (
        lambda m: dist.device_mesh.DeviceMesh("cpu", [0, 1], _init_backend=False).get_group(),
        RuntimeError,
        "process groups not initialized",
    ),
    (lambda m: m._unflatten("a", (3,), ("x",)), ValueError, "These must be equal for unflatten"),
    (
        lambda m: m._unflatten("c", (2,), ("x",)),
        ValueError,
        "dim c specified in `_unflatten` is not in",
    ),
    (
        lambda m: m._unflatten("a", (2,), ("x", "y")),
        RuntimeError,
        "must have same length as mesh_sizes",
    ),
    (
        lambda m: distribute_tensor(t(4, 4), m, [Shard(0)]),
        ValueError,
        "length: 1, and device_mesh.ndim: 2",
    ),
    (
        lambda m: distribute_tensor(t(4, 4), m, [0, 1]),
        TypeError,
        "Shard, Replicate or Partial, got int",
    ),
    (
        lambda m: distribute_tensor(t(4), m, [Shard(1), Replicate()]),
        IndexError,
        "greater than tensor ndim",
    ),
    (
        lambda m: DTensor.from_local(t(2), m, [Shard(0), Replicate()], shape=(6,), stride=(1,)),
        ValueError,
        r"part of a tensor of shape \[6\] has the shape \[3\], not \[2\]",
    ),
    (lambda m: parts(m).redistribute(), RuntimeError, "placements is needed for redistribute"),
    (
        lambda m: parts(m).redistribute(placements=[Replicate(), Partial()]),
        RuntimeError,
        "redistributing to Partial is for internal use only",
    ),
    (
        lambda m: parts(m).redistribute(dist.init_device_mesh("cpu", (4,)), [Replicate()]),
        NotImplementedError,
        "is not moved to another mesh",
    ),
    (
        lambda m: parts(m).redistribute(placements=[Replicate()] * 2, backward_dtype=torch.float64),
        NotImplementedError,
        "has no backward_dtype",
    ),
    (lambda m: parts(m).numpy(), RuntimeError, "has its values in several processes"),
    (lambda m: parts(m).tolist(), RuntimeError, "has its values in several processes"),
    (
        lambda m: setattr(parts(m), "data", t(4)),
        TypeError,
        "the data of a DTensor is a DTensor, got Tensor",
    ),
    (lambda m: parts(m) + dist_of(m), RuntimeError, "lie on different meshes"),
    (
        lambda m: distribute_module(distribute_module(torch.nn.Linear(2, 2), m), m),
        RuntimeError,
        "should only be called once on a module",
    ),
]


def parts(mesh):
    return distribute_tensor(torch.arange(4.0), mesh, [Shard(0), Replicate()])


def dist_of(mesh):
    other = dist.init_device_mesh("cpu", (4,))
    return distribute_tensor(torch.arange(4.0), other, [Replicate()])


@pytest.mark.parametrize(("call", "kind", "text"), MESHES)
def test_refused_meshes_and_parts(mesh, call, kind, text):
    pytest.importorskip("mindtorch_nn")
    with pytest.raises(kind, match=text):
        call(mesh)


@pytest.mark.parametrize("name", ["item", "__bool__", "__float__", "__int__"])
def test_values_of_one_element(mesh, name):
    one = distribute_tensor(torch.tensor([3.0]), mesh, [Replicate()] * 2)
    wanted = {"item": 3.0, "__bool__": True, "__float__": 3.0, "__int__": 3}[name]
    found = getattr(one, name)()
    assert found == wanted
    assert type(found) is type(wanted)
    assert f"{one.sum():.2f}" == "3.00"
    assert format(one) == repr(one)
    assert one.data_ptr() == one.to_local().data_ptr()


def test_data_is_taken_over(mesh):
    a = distribute_tensor(torch.arange(4.0), mesh, [Shard(0), Replicate()])
    b = distribute_tensor(torch.arange(4.0) * 2, mesh, [Replicate()] * 2)
    a.data = b
    assert a.placements == b.placements
    assert a.to_local().tolist() == [0.0, 2.0, 4.0, 6.0]


@pytest.mark.parametrize(
    ("placement", "text", "kinds"),
    [
        (Shard(1), "S(1)", (True, False, False)),
        (Replicate(), "R", (False, True, False)),
        (Partial(), "P(sum)", (False, False, True)),
        (Partial("max"), "P(max)", (False, False, True)),
    ],
)
def test_what_placements_say(placement, text, kinds):
    assert str(placement) == text
    assert (placement.is_shard(), placement.is_replicate(), placement.is_partial()) == kinds
    assert placement.is_shard(1) is kinds[0]
    assert not placement.is_shard(0)
    assert placement.is_partial("max") is (placement == Partial("max"))


URLS = [
    ((3,), RuntimeError, "`url` must be a string"),
    (("tcp://localhost:1", "a"), RuntimeError, "`rank` must be an integer. a"),
    (("tcp://localhost:1", 0, "a"), RuntimeError, "`world_size` must be an integer. a"),
    (("tcp://localhost:1?rank=0", 0, 1), AssertionError, "has node-specific arguments"),
    (("none://x", 0, 1), RuntimeError, "No rendezvous handler for none://"),
    (("file://?rank=0&world_size=1",), ValueError, "file:// rendezvous: path missing"),
    (("file:///x?world_size=1",), ValueError, "file:// rendezvous: rank parameter missing"),
    (("file:///x?rank=0",), ValueError, "file:// rendezvous: world size parameter missing"),
    (("file:///x", 2, 2), ValueError, "rank 2 is none of 2 processes"),
    (
        ("tcp://localhost?rank=0&world_size=1",),
        ValueError,
        "tcp:// rendezvous: port number missing",
    ),
    (("tcp://:1?rank=0&world_size=1",), ValueError, "tcp:// rendezvous: port number missing"),
    (("tcp://localhost:1?world_size=1",), ValueError, "tcp:// rendezvous: rank parameter missing"),
    (("tcp://localhost:1?rank=0",), ValueError, "tcp:// rendezvous: world size parameter missing"),
]


@pytest.mark.parametrize(("given", "kind", "text"), URLS)
def test_refused_addresses(given, kind, text):
    with pytest.raises(kind, match=text):
        next(iter(dist.rendezvous(*given)))


def test_addresses_of_files_are_used_once(tmp_path):
    found = dist.rendezvous(
        f"file://{tmp_path}/s?rank=0&world_size=1", timeout=timedelta(seconds=5)
    )
    store, rank, size = next(found)
    store.set("k", "v")
    assert (store.get("k"), rank, size) == (b"v", 0, 1)
    with pytest.raises(RuntimeError, match="Unable to perform rerendezvous using file://"):
        next(found)


def test_addresses_have_one_answer():
    with pytest.raises(RuntimeError, match="handler for tcp:// already registered"):
        dist.register_rendezvous_handler("tcp", iter)


BEGINNINGS = [
    (
        {"init_method": "env://", "store": dist.HashStore()},
        AssertionError,
        "both init_method and store",
    ),
    (
        {"store": dist.HashStore(), "rank": 0},
        AssertionError,
        "world_size must be positive if using store",
    ),
    (
        {"store": dist.HashStore(), "world_size": 1},
        AssertionError,
        "rank must be non-negative if using",
    ),
    ({"backend": "cpu:"}, ValueError, "say a name, or device:name,device:name"),
    ({"backend": ":gloo"}, ValueError, "say a name, or device:name,device:name"),
    ({"backend": "cpu:gloo,cpu:gloo"}, ValueError, "Duplicate device type cpu"),
]


@pytest.mark.parametrize(("named", "kind", "text"), BEGINNINGS)
def test_refused_beginnings(named, kind, text):
    with pytest.raises(kind, match=text):
        dist.init_process_group(**{"backend": "gloo", **named})
    assert not dist.is_initialized()


@pytest.mark.usefixtures("mesh")
def test_one_default_group():
    with pytest.raises(ValueError, match="initialize the default process group twice"):
        dist.init_process_group("fake", rank=0, world_size=2)
    assert dist.get_world_size() == WORLD
