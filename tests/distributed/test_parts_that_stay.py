"""DTensors whose parts differ in size: what is reduced along other dimensions leaves them where they lie."""

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.distributed.tensor import Replicate, Shard, distribute_tensor

ALONG_ROWS = {
    "mean": lambda t: t.mean(1),
    "mean, kept": lambda t: t.mean(-1, keepdim=True),
    "amax": lambda t: t.amax(1),
    "min": lambda t: t.min(1).values,
    "sum": lambda t: t.sum(1),
}


@pytest.fixture(params=[(4,), (2, 2)])
def mesh(request):
    dist.init_process_group("fake", rank=0, world_size=4)
    yield dist.init_device_mesh("cpu", request.param)
    dist.destroy_process_group()


@pytest.mark.parametrize("name", ALONG_ROWS)
def test_rows_that_are_cut_into_uneven_parts(mesh, name):
    whole = torch.arange(24.0).reshape(6, 4)
    placements = [Shard(0), Replicate()][: mesh.ndim]
    cut = ALONG_ROWS[name](distribute_tensor(whole, mesh, placements))
    assert list(cut.placements) == placements
    part = ALONG_ROWS[name](whole)[: -(-6 // mesh.size(0))]
    assert torch.equal(cut.to_local(), part)


def test_a_mean_along_what_is_cut_into_uneven_parts_is_of_the_whole(mesh):
    placements = [Shard(0), Replicate()][: mesh.ndim]
    cut = distribute_tensor(torch.ones(6, 4), mesh, placements).mean(0)
    assert all(isinstance(each, Replicate) for each in cut.placements)
