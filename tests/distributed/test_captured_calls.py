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


def test_data_parallel_steps_are_refused_by_the_name_of_what_they_call():
    nn = pytest.importorskip("mindtorch_nn")
    model = nn.parallel.DistributedDataParallel(nn.Linear(3, 1))

    def step(x):
        loss = model(x).sum()
        loss.backward()
        return loss.detach()

    with pytest.raises(torch.CaptureError, match=r"calls other processes.*: all_reduce\(\) at"):
        torch.pipeline.capture(step)(torch.ones(2, 3))


def test_the_broadcast_of_buffers_is_no_less_refused():
    nn = pytest.importorskip("mindtorch_nn")
    model = nn.parallel.DistributedDataParallel(nn.BatchNorm1d(3))

    def evaluated(x):
        with torch.no_grad():
            return model(x)

    with pytest.raises(torch.CaptureError, match="calls other processes"):
        torch.pipeline.capture(evaluated)(torch.ones(2, 3))


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
