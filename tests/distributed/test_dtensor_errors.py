"""What ops on DTensors refuse, they say of the shapes of the wholes, as for plain tensors."""

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.distributed.tensor import Replicate, Shard, zeros

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
