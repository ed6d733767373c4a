"""Ops on DTensors beside the same ops on whole tensors, in a group of one: what few programs ask for."""

import copy
import math

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

WAYS = [Shard(0), Replicate(), Partial()]


@pytest.fixture
def mesh():
    dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
    yield dist.init_device_mesh("cpu", (1,))
    dist.destroy_process_group()


def whole(found):
    if isinstance(found, tuple | list):
        return [whole(each) for each in found]
    found = found.full_tensor() if isinstance(found, DTensor) else found
    return found.tolist() if isinstance(found, torch.Tensor) else found


def x(*shape, dtype=torch.float32):
    shape = shape or (4, 3)
    return (torch.arange(float(math.prod(shape))).reshape(shape) - 3).to(dtype)


CALLS = {
    "amax": lambda t: t.amax(),
    "amin of ints": lambda t: t.to(torch.int64).amin(),
    "max and where": lambda t: t.max(1),
    "min and where": lambda t: t.min(0),
    "mean of a dimension": lambda t: t.mean(1),
    "mean": lambda t: t.mean(dtype=torch.float64),
    "norm": lambda t: torch.linalg.vector_norm(t),
    "norm 0": lambda t: torch.linalg.vector_norm(t, 0),
    "norm inf": lambda t: torch.linalg.vector_norm(t, float("inf")),
    "norm -inf": lambda t: torch.linalg.vector_norm(t, -float("inf")),
    "norm 3 of rows": lambda t: torch.linalg.vector_norm(t, 3, dim=1),
    "norm kept": lambda t: torch.linalg.vector_norm(t, keepdim=True),
    "norm of norms": lambda t: torch.linalg.vector_norm(torch.stack([t.norm(), t.norm() * 2])),
    "norms of lists": lambda t: torch._foreach_norm([t, t * 2]),
    "inf norms of lists": lambda t: torch._foreach_norm([t, t * 2], float("inf")),
    "sums of lists": lambda t: torch._foreach_add([t, t], 2),
    "products of lists": lambda t: torch._foreach_mul([t, t], [t, t + 1]),
    "equal": lambda t: torch.equal(t, t + 0),
    "not equal": lambda t: torch.equal(t, t + 1),
    "of other shapes": lambda t: torch.equal(t, t[:2]),
    "stacked": lambda t: torch.stack([t, t * 2], 1),
    "stacked sums": lambda t: torch.stack([t.sum(), t.sum() * 2]),
    "joined": lambda t: torch.cat([t, t], 1),
    "unsqueezed": lambda t: t.unsqueeze(1),
    "unsqueezed sum": lambda t: t.sum().unsqueeze(0),
    "rows by numbers": lambda t: torch.nn.functional.embedding(index(t, [3, 0]), t),
    "full_like": lambda t: torch.full_like(t, 3),
    "zeros_like": lambda t: torch.zeros_like(t, dtype=torch.int64),
    "new_full": lambda t: t.new_full((2, 5), 3),
    "new_empty_strided": lambda t: t.new_empty_strided((2, 5), (5, 1)).fill_(1),
    "svd": lambda t: torch.linalg.svdvals(t),
    "qr": lambda t: torch.linalg.qr(t).R.abs(),
    "var": lambda t: t.var(0),
    "softmax": lambda t: t.softmax(0),
    "sorted": lambda t: t.sort(0).values,
    "cumulative": lambda t: t.cumsum(0),
    "where": lambda t: torch.where(t > 0, t, -t),
    "topk": lambda t: t.topk(2, 0).values,
    "expanded": lambda t: t.unsqueeze(0).expand(2, 4, 3),
    "flipped": lambda t: t.flip(0),
    "rolled": lambda t: t.roll(1, 0),
    "masked": lambda t: t.masked_fill(t > 0, 0),
    "median": lambda t: t.flatten().median(),
}


def index(t, values):
    made = torch.tensor(values)
    return distribute_tensor(made, t.device_mesh, [Replicate()]) if isinstance(t, DTensor) else made


@pytest.mark.filterwarnings("ignore:.*has no rule for parts of DTensors")
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_ops_beside_whole_tensors(mesh, name, way):
    part = distribute_tensor(x(), mesh, [way])
    found, wanted = CALLS[name](part), CALLS[name](x())
    assert repr(whole(found)) == repr(whole(wanted))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8, torch.int8])
def test_the_largest_of_a_part_without_elements(mesh, dtype):
    """It is what changes nothing among other ranks' parts."""
    empty = DTensor.from_local(
        torch.empty(0, dtype=dtype), mesh, [Shard(0)], shape=(0,), stride=(1,)
    )
    float_, info = dtype.is_floating_point, None if dtype.is_floating_point else torch.iinfo(dtype)
    for call, least in ((empty.amax, True), (empty.amin, False)):
        wanted = (-math.inf if least else math.inf) if float_ else (info.min if least else info.max)
        assert call().to_local().item() == wanted


@pytest.mark.parametrize(("order", "wanted"), [(2, 0.0), (float("inf"), 0.0), (-1, math.inf)])
def test_norms_of_parts_without_elements(mesh, order, wanted):
    empty = DTensor.from_local(torch.empty(0), mesh, [Shard(0)], shape=(0,), stride=(1,))
    found = torch.linalg.vector_norm(empty, order).to_local().item()
    assert found == wanted


@pytest.mark.parametrize(
    "call",
    [
        lambda a: torch.equal(a, x()),
        lambda a: torch.nn.functional.embedding(torch.tensor([0]), a),
        lambda a: a + x(),
        lambda a: torch._foreach_add([a, a], [x(), x()]),
    ],
)
def test_parts_and_whole_tensors_do_not_mix(mesh, call):
    with pytest.raises(RuntimeError, match=r"mixed torch.Tensor and DTensor"):
        call(distribute_tensor(x(), mesh, [Shard(0)]))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda a: torch.normal(a, a.abs() + 1), "draws random numbers from"),
        (lambda a: torch.poisson(a.abs()), "draws random numbers from values"),
    ],
)
def test_refused_ops(mesh, call, text):
    a = distribute_tensor(x(), mesh, [Shard(0)])
    with pytest.raises(NotImplementedError, match=text):
        call(a)


@pytest.mark.parametrize("way", WAYS[:2], ids=str)
def test_random_numbers_are_those_of_one_process(mesh, way):
    for call in (
        lambda t: torch.bernoulli(t.abs() / 20),
        torch.rand_like,
        lambda t: t.clone().normal_(),
        lambda t: t.clone().bernoulli_(0.5),
    ):
        torch.manual_seed(3)
        wanted = call(x())
        torch.manual_seed(3)
        found = call(distribute_tensor(x(), mesh, [way]))
        assert found.placements == (way,)
        assert whole(found) == wanted.tolist()


@pytest.mark.parametrize("kind", ["rand", "randn"])
@pytest.mark.parametrize("way", WAYS[:2], ids=str)
def test_random_tensors_in_parts(mesh, kind, way):
    torch.manual_seed(5)
    wanted = getattr(torch, kind)(4, 3)
    torch.manual_seed(5)
    found = getattr(dist.tensor, kind)(
        4, 3, device_mesh=mesh, placements=[way], requires_grad=True, dtype=torch.float32
    )
    assert found.placements == (way,)
    assert found.requires_grad
    assert whole(found) == wanted.tolist()


def test_modules_in_parts(mesh):
    """Parameters, and buffers too; what is distributed already stays as it is."""
    nn = pytest.importorskip("mindtorch_nn")
    model = nn.BatchNorm1d(3)
    model.own = nn.Parameter(distribute_tensor(torch.ones(2), mesh, [Shard(0)]))
    own = model.own
    made = distribute_module(model, mesh)
    assert made is model
    assert model.own is own
    for name, t in [*model.named_parameters(), *model.named_buffers()]:
        assert isinstance(t, DTensor), name
    assert model.weight.placements == model.running_mean.placements == (Replicate(),)


def test_parameters_that_lie_in_parts_stay_parameters(mesh):
    p = torch.nn.Parameter(x())
    made = distribute_tensor(p, mesh, [Shard(0)])
    assert isinstance(made, torch.nn.Parameter)
    assert made.requires_grad
    assert whole(made) == x().tolist()


def test_deep_copies_of_results(mesh):
    a = distribute_tensor(x(), mesh, [Shard(0)]).requires_grad_()
    b = copy.deepcopy(a)
    assert (b.requires_grad, b.placements, whole(b)) == (True, a.placements, x().tolist())
    with pytest.raises(RuntimeError, match="support the deepcopy protocol: detach it first"):
        copy.deepcopy(a * 2)
