"""`torch.pipeline.capture` of functions that call other processes: ops are recorded, other calls refused."""

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist


@pytest.fixture(autouse=True)
def group():
    dist.init_process_group("fake", rank=0, world_size=2)
    yield
    dist.destroy_process_group()


def gathered(x):
    rows = [torch.empty(3), torch.empty(3)]
    dist.all_gather(rows, x)
    return torch.cat(rows)


def told(x):
    dist.broadcast(x, 0)
    return x + 1


def later(x):
    y = x * 2
    dist.all_reduce(y, async_op=True).wait()
    return y


def sent(x):
    dist.send(x, 1)
    return x + 1


def awaited(x):
    dist.barrier()
    return x + 1


def objects(x):
    dist.broadcast_object_list(["an object"], 0)
    return x + 1


CALLS = {
    "all_gather": gathered,
    "broadcast": told,
    "all_reduce": later,
    "send": sent,
    "barrier": awaited,
    "broadcast_object_list": objects,
}


@pytest.mark.parametrize("op", CALLS)
def test_a_call_that_a_recording_would_not_do_again_is_refused(op):
    text = (
        rf"it calls other processes, which a .*: {op}\(\) at .*test_captured_calls.py:\d+. Ops can"
    )
    captured = torch.pipeline.capture(CALLS[op])
    with pytest.raises(torch.CaptureError, match=text) as caught:
        captured(torch.ones(3))
    assert torch.equal(caught.value.result, CALLS[op](torch.ones(3)))


def stepping(model):
    """A training step of a model."""
    nn = pytest.importorskip("mindtorch_nn")
    optimizer = nn.optim.SGD(model.parameters(), 0.1)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


# What is done beside the ops, or by changes that nobody guards.
@pytest.mark.parametrize("how", ["unused", "static", "hook", "replicate"])
def test_data_parallel_steps_that_are_more_than_ops_are_refused_by_what_they_call(how):
    nn = pytest.importorskip("mindtorch_nn")
    options = {"find_unused_parameters": how == "unused", "static_graph": how == "static"}
    if how == "replicate":
        model = dist._composable.replicate(nn.Linear(3, 1))
    else:
        model = nn.parallel.DistributedDataParallel(nn.Linear(3, 1), **options)
    if how == "hook":
        hooks = pytest.importorskip("mindtorch_core.distributed.algorithms.ddp_comm_hooks")
        model.register_comm_hook(None, hooks.default_hooks.allreduce_hook)
    with pytest.raises(torch.CaptureError, match=r"calls other processes.*_functional_collectives"):
        torch.pipeline.capture(stepping(model))(torch.ones(2, 3))


@pytest.mark.parametrize(
    "options", [{}, {"gradient_as_bucket_view": True}, {"bucket_cap_mb": 1e-4}]
)
def test_data_parallel_steps_are_recorded(options):
    nn = pytest.importorskip("mindtorch_nn")

    def results(capture):
        torch.manual_seed(0)
        layers = nn.Linear(3, 400), nn.BatchNorm1d(400), nn.Linear(400, 200), nn.Linear(200, 1)
        model = nn.parallel.DistributedDataParallel(nn.Sequential(*layers), **options)
        step = capture(stepping(model))
        losses = [step(torch.randn(4, 3)).item() for _ in range(4)]
        return losses, [t.tolist() for t in model.state_dict().values()]

    assert results(torch.pipeline.capture) == results(lambda step: step)


def test_a_recorded_step_sees_that_the_sums_are_made_otherwise():
    nn = pytest.importorskip("mindtorch_nn")
    hooks = pytest.importorskip("mindtorch_core.distributed.algorithms.ddp_comm_hooks")
    model = nn.parallel.DistributedDataParallel(nn.Linear(3, 1))
    step = torch.pipeline.capture(stepping(model))
    step(torch.ones(2, 3))
    model.register_comm_hook(None, hooks.default_hooks.allreduce_hook)
    with pytest.raises(torch.CaptureError, match="_comm_hooks"):
        step(torch.ones(2, 3))


def test_ops_are_recorded():
    ops, name = torch.ops._c10d_functional, dist.group.WORLD.group_name
    captured = torch.pipeline.capture(lambda x: ops.all_gather_into_tensor(x * 2, 2, name))
    for start in range(3):
        assert captured(torch.tensor([float(start)])).tolist() == [2.0 * start] * 2


def test_ops_in_place_are_recorded():
    ops, name = torch.ops._c10d_functional, dist.group.WORLD.group_name

    @torch.pipeline.capture
    def captured(x):
        y = x * 2
        rest = y[1:]
        ops.all_reduce_(rest, "avg", name)
        return y, ops.broadcast_(rest + 1, 0, name)

    for start in range(3):
        y, told = captured(torch.tensor([start, start + 1.0]))
        assert (y.tolist(), told.tolist()) == ([2.0 * start, start + 1.0], [start + 2.0])


def listed_in_place(x):
    """Writes a list, and what is no first argument; both are given back."""
    ops, name = torch.ops._c10d_functional, dist.group.WORLD.group_name
    y, z = x * 2, x * 3
    given = ops.all_reduce_coalesced_([y, z[1:]], "sum", name)
    rows = ops.all_gather_into_tensor_out(given[0] + 1, 2, name, out=x.new_zeros(2 * len(x)))
    return y, z, rows


def expected_of_lists(x):
    return [(x * 2).tolist(), (x * 3).tolist(), (x * 2 + 1).tolist() * 2]


def test_lists_in_place_are_recorded():
    captured = torch.pipeline.capture(listed_in_place)
    for start in range(3):
        x = torch.tensor([start, start + 1.0])
        assert [t.tolist() for t in captured(x)] == expected_of_lists(x)


def test_lists_in_place_are_deferred_and_replayed():
    for start in range(6):
        x = torch.tensor([start, start + 1.0])
        with torch.pipeline() as pipe:
            found = listed_in_place(x)
            assert all(t._pending for t in found)
        assert [t.tolist() for t in found] == expected_of_lists(x)
        assert pipe.stats()["flush_reasons"] == {"end of block": 1}
    assert pipe.stats()["replayed"] > 0


def test_a_group_of_one_process_is_no_hindrance():
    dist.destroy_process_group()
    dist.init_process_group("fake", rank=0, world_size=1)
    captured = torch.pipeline.capture(told)
    assert [captured(torch.full((1,), x)).item() for x in (1.0, 2.0)] == [2, 3]
