"""Hooks on saved tensors and DTensors: what backward reads is a DTensor as well."""

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.autograd.graph import save_on_cpu, saved_tensors_hooks
from mindtorch_core.distributed.tensor import Shard, distribute_tensor


@pytest.fixture
def mesh():
    dist.init_process_group("fake", rank=0, world_size=2)
    yield dist.init_device_mesh("cpu", (2,))
    dist.destroy_process_group()


@pytest.mark.parametrize(
    "hooks", [save_on_cpu, lambda: saved_tensors_hooks(lambda t: t, lambda t: t)]
)
def test_backward_under_hooks_is_that_without(mesh, hooks):
    values = torch.arange(8.0).reshape(4, 2)
    cut = [distribute_tensor(values, mesh, [Shard(0)]).requires_grad_() for _ in range(2)]
    (cut[0] * cut[0].exp()).to_local().sum().backward()
    with hooks():
        loss = (cut[1] * cut[1].exp()).to_local().sum()
    loss.backward()
    assert cut[1].grad.placements == cut[0].grad.placements
    assert torch.equal(cut[1].grad.to_local(), cut[0].grad.to_local())
