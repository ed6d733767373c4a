"""Questions and refusals of groups, and tables of parts, where the other ranks are only said to be there."""

from datetime import timedelta

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.distributed import distributed_c10d as c10d
from mindtorch_core.distributed.tensor.debug import visualize_sharding
from mindtorch_core.ecosystem.distributed import _functional_collectives as collectives


@pytest.fixture
def ranks(request):
    """A world of four, or so many, of which this is rank 0, or another."""
    rank, size = getattr(request, "param", (0, 4))
    dist.init_process_group("fake", rank=rank, world_size=size)
    yield size
    dist.destroy_process_group()


# ---- collectives ----------------------------------------------------------------------------------


def test_groups_are_named_in_several_ways(ranks):
    x, mesh = torch.arange(4.0), dist.init_device_mesh("cpu", (4,))
    for group in (mesh, (mesh, 0), [0, 1, 2, 3], (0, 1, 2, 3), dist.group.WORLD):
        assert collectives.all_reduce(x, "sum", group).tolist() == [0, 1, 2, 3]
    for group in ([0, 1], 5, None):
        with pytest.raises(ValueError, match="the list of all ranks is wanted"):
            collectives.all_reduce(x, "sum", group)
    square = dist.init_device_mesh("cpu", (2, 2))
    with pytest.raises(AssertionError, match="Only 1D mesh is supported"):
        collectives.all_reduce(x, "sum", square)


def test_dimensions_that_are_cut_and_joined(ranks):
    group, x = dist.group.WORLD, torch.arange(24.0).reshape(3, 8)
    assert collectives.wait_tensor(x) is x
    assert collectives.all_gather_tensor(x, 1, group).shape == (3, 32)
    assert collectives.reduce_scatter_tensor(x, "sum", 1, group).tolist() == x[:, :2].tolist()
    parts = collectives.reduce_scatter_tensor_coalesced([x, x.t()], "sum", [1, 0], group)
    assert [tuple(each.shape) for each in parts] == [(3, 2), (2, 3)]
    with pytest.raises(
        AssertionError, match=r"input dimension 0 \(3 must be a multiple of group_size 4\)"
    ):
        collectives.reduce_scatter_tensor(x, "sum", 0, group)
    with pytest.raises(
        AssertionError, match=r"Length of scatter_dim \(1\) must equal length of inputs \(2\)"
    ):
        collectives.reduce_scatter_tensor_coalesced([x, x], "sum", [1], group)


@pytest.mark.parametrize("given", [(None, None), ([1, 1, 1, 0], None), (None, [1, 1, 1, 0])])
def test_rows_for_each(ranks, given):
    group = dist.group.WORLD
    with pytest.raises(
        AssertionError, match=r"input dimension 0 \(3 must be a multiple of group_size 4\)"
    ):
        collectives.all_to_all_single(torch.zeros(3, 2), *given, group)
    assert collectives.all_to_all_single(torch.zeros(4, 2), None, None, group).shape == (4, 2)
    uneven = collectives.all_to_all_single(torch.zeros(3, 2), [1, 1, 1, 0], [1, 1, 1, 0], group)
    assert uneven.shape == (3, 2)


# ---- questions ------------------------------------------------------------------------------------


def test_what_is_known_of_groups(ranks):
    world = dist.group.WORLD
    pair = dist.new_group([0, 1])
    assert c10d._get_default_group() is world
    assert c10d._resolve_process_group(pair.group_name) is pair
    assert c10d._get_process_group_store(world) is world.store
    known = c10d._world
    assert known.default_pg is world
    assert known.pg_map[pair] == (pair.backend, pair.store)
    assert c10d._pg_map[world][0] == "fake"
    assert set(known.pg_map) == {world, pair}
    with pytest.raises(AttributeError, match="distributed_c10d' has no attribute 'nothing'"):
        _ = c10d.nothing


def test_deadlines_of_groups(ranks):
    world, others = dist.group.WORLD, dist.new_group([1, 2])
    c10d._set_pg_timeout(timedelta(seconds=7), world)
    with pytest.raises(ValueError, match="Invalid process group specified"):
        c10d._set_pg_timeout(timedelta(seconds=7), others)
    with pytest.raises(TypeError, match="timedelta"):
        c10d._set_pg_timeout(7, world)


def test_without_a_group():
    with pytest.raises(ValueError, match="init_process_group"):
        c10d._get_default_group()
    assert c10d._world.default_pg is None


def test_what_is_there(monkeypatch):
    assert dist.is_gloo_available() is dist.is_available()
    assert not dist.is_nccl_available()
    assert not dist.is_ucc_available()
    assert dist.is_mpi_available() is dist.is_backend_available("mpi")
    monkeypatch.delenv("TORCHELASTIC_RUN_ID", raising=False)
    assert not dist.is_torchelastic_launched()
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "")
    assert dist.is_torchelastic_launched()


# ---- tables of parts ------------------------------------------------------------------------------


def shown(capsys, tensor, mesh, placements):
    capsys.readouterr()
    visualize_sharding(dist.tensor.distribute_tensor(tensor, mesh, placements))
    return [line.split() for line in capsys.readouterr().out.splitlines()]


def test_tables_of_lines_and_squares(ranks, capsys):
    Shard, Replicate = dist.tensor.Shard, dist.tensor.Replicate
    line, square = dist.init_device_mesh("cpu", (4,)), dist.init_device_mesh("cpu", (2, 2))
    flat = shown(capsys, torch.zeros(5), line, [Shard(0)])
    assert flat[0] == ["Col", "0-0"]  # of one column
    assert flat[2:] == [["Row", "0-1", "cpu:0"], ["Row", "2-3", "cpu:1"], ["Row", "4-4", "cpu:2"]]
    assert shown(capsys, torch.zeros(4, 6), square, [Shard(0), Shard(1)]) == [
        ["Col", "0-2", "Col", "3-5"],
        ["-------", "---------", "---------"],
        ["Row", "0-1", "cpu:0", "cpu:1"],
        ["Row", "2-3", "cpu:2", "cpu:3"],
    ]
    whole = shown(capsys, torch.zeros(4, 6), square, [Replicate(), Shard(1)])
    assert whole[2] == ["Row", "0-3", "cpu:0,2", "cpu:1,3"]


def test_tables_that_are_not_printed(ranks, capsys):
    mesh = dist.init_device_mesh("cpu", (4,))
    assert shown(capsys, torch.zeros(0, 3), mesh, [dist.tensor.Shard(0)]) == []
    with pytest.raises(RuntimeError, match="supports only 1D or 2D DTensor"):
        shown(capsys, torch.zeros(4, 2, 2), mesh, [dist.tensor.Shard(0)])


@pytest.mark.parametrize("ranks", [(1, 4)], indirect=True)
def test_the_first_rank_prints(ranks, capsys):
    mesh = dist.init_device_mesh("cpu", (4,))
    assert shown(capsys, torch.zeros(8, 3), mesh, [dist.tensor.Shard(0)]) == []
