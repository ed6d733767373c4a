"""A backend that the program registers: it is asked for by name, and its groups work."""

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.communication.engines import engine

asked = []


def create(store, rank, size, timeout):
    asked.append((rank, size, timeout.total_seconds()))
    return engine("mpi").connect(rank, size, store, timeout.total_seconds())


def extended(about, options):
    assert options is None
    return create(about.store, about.group_rank, about.group_size, about.timeout)


dist.Backend.register_backend("mine", create, devices=["cpu"])
dist.Backend.register_backend("other", extended, extended_api=True, devices="cpu")
dist.Backend.register_backend("wrong", lambda *_: 3, devices="cpu")
assert dist.Backend.MINE == "mine"
assert dist.Backend("MINE") in dist.Backend.backend_list
assert dist.Backend.backend_capability["other"] == ["cpu"]
assert dist.Backend.default_device_backend_map["cpu"] == "gloo"
with pytest.warns(UserWarning, match="Device capability of bare unspecified"):
    dist.Backend.register_backend("bare", create)
for number, name in enumerate(("mine", "other")):
    dist.init_process_group(name)
    rank, size = dist.get_rank(), dist.get_world_size()
    assert dist.get_backend() == name
    t = torch.ones(2) * (rank + 1)
    dist.all_reduce(t)
    assert t.tolist() == [size * (size + 1) / 2] * 2
    pair = dist.new_group([1, 0], sort_ranks=False)
    dist.broadcast(t, 1, group=pair)
    assert len(asked) == number + 1
    assert asked[-1][:2] == (rank, size)
    dist.destroy_process_group()
with pytest.raises(TypeError, match=r"'wrong' must give a Communicator .* got int"):
    engine("wrong").connect(0, 2, dist.HashStore(), 1.0)
print("done")
