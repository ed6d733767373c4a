"""What ops on DTensors refuse, they say of the shapes of the wholes, as for plain tensors."""

import re

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.distributed.tensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    zeros,
)

CALLS = {
    "view": lambda x, y: x.view(5),
    "view, a size left open": lambda x, y: x.view(-1, 5),
    "view of more": lambda x, y: x.view(100),
    "reshape": lambda x, y: x.reshape(7, 1),
    "transpose": lambda x, y: x.transpose(0, 5),
    "permute": lambda x, y: x.permute(0, 4),
    "expand": lambda x, y: x.expand(3, 6),
    "softmax": lambda x, y: x.softmax(7),
    "sum": lambda x, y: x.sum(5),
    "matmul": lambda x, y: x @ y,
    "add": lambda x, y: x + y,
    "cat": lambda x, y: torch.cat([x, y]),
    "select": lambda x, y: x.select(0, 9),
    "layer_norm": lambda x, y: torch.nn.functional.layer_norm(x, (5,)),
}


@pytest.fixture
def mesh():
    dist.init_process_group("fake", rank=0, world_size=2)
    yield dist.init_device_mesh("cpu", (2,))
    dist.destroy_process_group()


@pytest.mark.parametrize("name", CALLS)
def test_what_is_refused(mesh, name):
    cut, whole = ({"device_mesh": mesh, "placements": [p]} for p in (Shard(0), Replicate()))
    said = []
    for x, y in (
        (zeros(4, 6, **cut), zeros(5, 8, **whole)),
        (torch.zeros(4, 6), torch.zeros(5, 8)),
    ):
        with pytest.raises((RuntimeError, IndexError)) as refused:
            CALLS[name](x, y)
        said.append((type(refused.value), str(refused.value)))
    assert said[0] == said[1]


def test_placements_that_are_refused(mesh):
    x = torch.zeros(4, 6)
    cut = distribute_tensor(x, mesh, [Shard(0)])
    text = "from S(0) to P(sum), redistributing to Partial is for internal use only!"
    with pytest.raises(RuntimeError, match=re.escape(text)):
        cut.redistribute(mesh, [Partial()])
    partial = DTensor.from_local(x, mesh, [Partial()])
    assert partial.redistribute(mesh, [Partial()]).placements == (Partial(),)
    with pytest.raises(ValueError, match=r"to a different placements.*call `redistribute` instead"):
        distribute_tensor(cut, mesh, [Shard(1)])
    for call in (
        lambda: distribute_tensor(x, mesh, [Shard(5)]),
        lambda: DTensor.from_local(x, mesh, [Shard(5)]),
        lambda: cut.redistribute(mesh, [Shard(5)]),
        lambda: zeros(4, 6, device_mesh=mesh, placements=[Shard(5)]),
    ):
        for kind in (AssertionError, IndexError, RuntimeError):  # each of PyTorch's raises one
            with pytest.raises(kind, match="Sharding dim 5 greater than tensor ndim 2"):
                call()
