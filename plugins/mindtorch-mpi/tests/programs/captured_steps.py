"""Training steps that are captured with the sums of their gradients: as with `DistributedDataParallel`, to the bit."""

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.distributed import _functional_collectives as funcol

nn = pytest.importorskip("mindtorch_nn")
dist.init_process_group("mpi")
rank, world = dist.get_rank(), dist.group.WORLD
ops = torch.ops._c10d_functional


def model(width=16):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, 3))


def batch(step):
    torch.manual_seed(100 * step + rank)
    return torch.randn(4, 6)


def by_reducer(steps, capture=lambda step: step, *, width=16, to_none=True, parts=1, **options):
    """Losses and parameters of steps that may keep their gradients, and sum several backwards' in place."""
    ddp = nn.parallel.DistributedDataParallel(model(width), **options)
    optimizer = torch.optim.Adam(ddp.parameters(), 0.01)

    @capture
    def step(x):
        optimizer.zero_grad(set_to_none=to_none)
        for part in x.split(len(x) // parts)[1:]:
            with ddp.no_sync():
                ddp(part).square().mean().backward()
        loss = ddp(x[: len(x) // parts]).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    losses = [step(batch(number)).item() for number in range(steps)]
    return losses, [p.tolist() for p in ddp.parameters()]


def each_in_place(grads):
    return [ops.all_reduce_(grad, "avg", world.group_name) for grad in grads]


def in_place(grads):
    return ops.all_reduce_coalesced_([*grads], "avg", world.group_name)


def captured(steps, mean):
    own = model()
    parameters = [*own.parameters()]
    optimizer = torch.optim.Adam(parameters, 0.01)

    @torch.pipeline.capture
    def step(x):
        loss = own(x).square().mean()
        grads = mean(torch.autograd.grad(loss, parameters))
        for parameter, grad in zip(parameters, grads, strict=True):
            parameter.grad = grad
        optimizer.step()
        return loss.detach()

    losses = [step(batch(number)).item() for number in range(steps)]
    return losses, [p.tolist() for p in parameters]


expected = by_reducer(6)
assert by_reducer(6, torch.pipeline.capture) == expected
# Where one process captures it and another does not, they make the same calls.
assert by_reducer(6, torch.pipeline.capture if rank else lambda step: step) == expected
# Gradients that stay the same tensors; large ones are summed where they are.
for options in (
    {"to_none": False},
    {"to_none": False, "width": 25_000},
    {"to_none": False, "gradient_as_bucket_view": True},
    {"to_none": False, "parts": 2},
    {"parts": 2},
):
    plainly = by_reducer(4, **options)
    assert by_reducer(4, torch.pipeline.capture, **options) == plainly, options
    assert (
        by_reducer(4, torch.pipeline.capture if rank else lambda step: step, **options) == plainly
    )
assert captured(6, lambda grads: funcol.all_reduce_coalesced([*grads], "avg", world)) == expected
assert captured(6, each_in_place) == expected
assert captured(6, in_place) == expected
print("done")
