"""DistributedDataParallel: what one process computes on all batches, several compute on their parts."""

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core import nn
from mindtorch_core.distributed._composable import replicate
from mindtorch_core.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook

dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()
DDP = nn.parallel.DistributedDataParallel
close = torch.testing.assert_close


def network(*more):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 16), *more, nn.ReLU(), nn.Linear(16, 3))


def step(model, x, y):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()


def train(model, batches, optimizer):
    for x, y in batches:
        optimizer.zero_grad()
        step(model, x, y)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


draw = torch.Generator().manual_seed(1)
data = [
    (torch.randn(8 * size, 5, generator=draw), torch.randn(8 * size, 3, generator=draw))
    for _ in range(5)
]
mine = [(x[rank::size], y[rank::size]) for x, y in data]

# The same parameters after five steps, whatever the buckets.
alone = network()
train(alone, data, torch.optim.AdamW(alone.parameters(), lr=0.01))
for kept in (False, True):
    for megabytes in (None, 1e-4):
        model = network()
        if rank:
            nn.init.zeros_(model[0].weight)  # overwritten by rank 0's
        ddp = DDP(model, gradient_as_bucket_view=kept, bucket_cap_mb=megabytes)
        assert len(ddp.reducer.buckets) == (1 if megabytes is None else 2)
        assert (ddp.device, ddp.device_type) == (torch.device("cpu"), "cpu")
        train(ddp, mine, torch.optim.AdamW(ddp.parameters(), lr=0.01))
        for own, expected in zip(model.parameters(), alone.parameters(), strict=True):
            close(own, expected)
        assert list(ddp.state_dict()) == [f"module.{name}" for name in model.state_dict()]

# Those of a group alone, which are the first rank here.
group = dist.new_group([0])
if rank:
    with pytest.raises(TypeError, match="not in the process group"):
        DDP(network(), process_group=group)
else:
    step(DDP(network(), process_group=group), *mine[0])

# Gradients that are gathered over several batches before they are summed.
model, alone = network(), network()
ddp = DDP(model)
with ddp.no_sync():
    for x, y in mine[:2]:
        step(ddp, x, y)
step(ddp, *mine[2])
for x, y in data[:3]:
    step(alone, x, y)
for own, expected in zip(model.parameters(), alone.parameters(), strict=True):
    close(own.grad, expected.grad)


# Hooks in place of the sums: PyTorch's, which are the same or nearly so, and one's own.
alone = network()
train(alone, data, torch.optim.SGD(alone.parameters(), lr=0.1))
narrow = default_hooks.bf16_compress_wrapper(default_hooks.allreduce_hook)
for hook, within in (
    (None, 1e-5),
    (default_hooks.allreduce_hook, 1e-5),
    (default_hooks.fp16_compress_hook, 1e-3),
    (default_hooks.bf16_compress_hook, 1e-2),
    (narrow, 1e-2),
):
    model = network()
    ddp = DDP(model, bucket_cap_mb=1e-4)
    if hook is not None:
        ddp.register_comm_hook(None, hook)
    train(ddp, mine, torch.optim.SGD(ddp.parameters(), lr=0.1))
    for own, expected in zip(model.parameters(), alone.parameters(), strict=True):
        close(own, expected, rtol=within, atol=within)

# Matrices of full rank lose nothing, in several buckets, and as one matrix.
for hook in (powerSGD_hook.powerSGD_hook, powerSGD_hook.batched_powerSGD_hook):
    for sure in (True, False):
        model = network()
        ddp = DDP(model, bucket_cap_mb=1e-4)
        state = powerSGD_hook.PowerSGDState(
            None, 99 if hook is powerSGD_hook.powerSGD_hook or sure else 2,
            start_powerSGD_iter=2, min_compression_rate=0.01, warm_start=sure, use_error_feedback=sure,
        )  # fmt: skip
        ddp.register_comm_hook(state, hook)
        train(ddp, mine, torch.optim.SGD(ddp.parameters(), lr=0.1))
        assert state.iter == 5
        exact = state.matrix_approximation_rank == 99
        worst = max(
            (own - expected).abs().max().item()
            for own, expected in zip(model.parameters(), alone.parameters(), strict=True)
        )
        assert worst < 1e-4 if exact else 1e-4 < worst < 0.5, worst
        dist.all_gather_object(seen := [None] * size, model[0].weight.detach())
        for each in seen:  # all processes have the same, whatever was lost
            close(each, seen[0], rtol=0, atol=0)


def halves(state, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    state.append((bucket.index(), bucket.is_last(), [g.shape for g in bucket.gradients()]))
    assert [g.shape for g in bucket.gradients()] == [p.shape for p in bucket.parameters()]
    future = dist.all_reduce(bucket.buffer(), async_op=True).get_future()
    return future.then(lambda done: done.value()[0] / 2)


model, seen = nn.Linear(3, 2), []
ddp = DDP(model, bucket_cap_mb=5e-6)
ddp.register_comm_hook(seen, halves)
ddp(torch.ones(4, 3)).sum().backward()
close(model.weight.grad, torch.full((2, 3), 4.0 * size / 2))
assert seen == [(0, False, [(2,)]), (1, True, [(2, 3)])], seen
with pytest.raises(RuntimeError, match="can only be called once"):
    ddp._register_builtin_comm_hook(dist.BuiltinCommHookType.ALLREDUCE)
ddp = DDP(nn.Linear(3, 2))
with pytest.raises(TypeError, match="must be callable"):
    ddp.register_comm_hook(None, 3)


def wrong(state, bucket: int):
    return None


for hook, text in ((wrong, "bucket annotation should be"), (len, "a state and a bucket")):
    with pytest.raises(ValueError, match=text):
        ddp.register_comm_hook(None, hook)
ddp.register_comm_hook(None, lambda state, bucket: bucket.buffer())
with pytest.raises(TypeError, match=r"gives a torch\.futures\.Future, got Tensor"):
    ddp(torch.ones(4, 3)).sum().backward()

# Futures of calls: called when done, in any order, with the error of a call that fails.
work = dist.all_reduce(torch.ones(2), async_op=True)
called = []
after = work.get_future().then(lambda done: called.append(1) or done.value()[0] * 3)
work.get_future().add_done_callback(lambda done: called.append(2))
close(after.wait(), torch.full((2,), 3.0 * size))
assert sorted(called) == [1, 2]
assert work.get_future().done()
future = dist.all_reduce(torch.ones(1 + rank), async_op=True).get_future()
with pytest.raises(dist.DistributedError, match="made another call"):
    future.then(lambda done: done.value()).wait()

# What each process has for itself.
model = nn.Linear(2, 2)
nn.init.constant_(model.bias, float(rank))
DDP._set_params_and_buffers_to_ignore_for_model(model, ["bias"])
ddp = DDP(model)
ddp(torch.ones(1 + rank, 2)).sum().backward()
assert model.bias.tolist() == [rank, rank]
close(model.bias.grad, torch.full((2,), 1.0 + rank))
close(model.weight.grad, torch.full((2, 2), sum(range(1, size + 1)) / size))


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.a, self.b, self.c = (nn.Linear(2, 2) for _ in range(3))

    def forward(self, x, first):
        return {"out": [(self.a if first else self.b)(x)]}


# Each rank uses other parameters; one nobody uses.
for options in ({"find_unused_parameters": True}, {"static_graph": True}):
    model = Branches()
    ddp = DDP(model, **options)
    for _ in range(3):
        model.zero_grad()
        ddp(torch.ones(1, 2), rank == 0)["out"][0].sum().backward()
    share = torch.full((2, 2), 1 / size)
    close(model.a.weight.grad, share)
    close(model.b.weight.grad, share * (size - 1))
    assert model.c.weight.grad is None
ddp = DDP(Branches())
ddp(torch.ones(1, 2), True)["out"][0].sum().backward()
text = rf"Expected to have finished reduction.* rank {rank}: \[2, 3, 4, 5\]"
with pytest.raises(RuntimeError, match=text):
    ddp(torch.ones(1, 2), True)


class Held:
    def __init__(self, out):
        self.out = out


class Opaque(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)

    def forward(self, x, *places):
        return [Held(self.a(x)), Held([self.a(x)]), lambda: self.a(x)][places[0]]


# Outputs in objects of any kind; a rank whose output depends on no parameter.
for options in ({"find_unused_parameters": True}, {"static_graph": True}):
    ddp = DDP(Opaque(), **options)
    for place in range(3):
        ddp.zero_grad()
        held = ddp(torch.full((1, 2), float(rank)), place)
        out = held() if place == 2 else held.out[0] if place else held.out
        out.sum().backward()
        close(ddp.module.a.weight.grad, torch.full((2, 2), (size - 1) / 2))
model = Branches()
model.forward = lambda x: x * 2 if rank else model.a(x)
ddp = DDP(model, find_unused_parameters=True)
for _ in range(2):
    model.zero_grad()
    ddp(torch.ones(1, 2, requires_grad=True)).sum().backward()
    close(model.a.weight.grad, torch.full((2, 2), 1 / size))
    assert model.b.weight.grad is None

# Other dtypes, and gradients that are summed last.
precision = nn.parallel.distributed._MixedPrecision(torch.bfloat16, torch.float32)
model, alone = network(), network()
delayed = {
    "delay_all_reduce_named_params": [("2.weight", model[2].weight)],
    "param_to_hook_all_reduce": model[0].weight,
}
step(DDP(model, mixed_precision=precision, bucket_cap_mb=0, **delayed), *mine[0])
step(alone, *data[0])
for own, expected in zip(model.parameters(), alone.parameters(), strict=True):
    assert own.grad.dtype is torch.float32
    close(own.grad, expected.grad, rtol=0.02, atol=0.01)
in_place, seen = network(), []
in_place[0].register_forward_hook(lambda layer, inputs, output: seen.append(output.dtype))
step(replicate(in_place, mixed_precision=precision), *mine[0])
assert seen == [torch.bfloat16]
for own, expected in zip(in_place.parameters(), model.parameters(), strict=True):
    close(own.grad, expected.grad, rtol=0, atol=0)

# Buffers are rank 0's; a synchronized normalization sees all batches.
model = network(nn.BatchNorm1d(16))
ddp = DDP(model)
step(ddp, *mine[0])
step(ddp, *mine[1])
ddp.eval()
ddp(mine[2][0])
found = [None] * size
dist.all_gather_object(found, model[1].running_mean)
for each in found:
    close(each, found[0], rtol=0, atol=0)
model = nn.SyncBatchNorm.convert_sync_batchnorm(network(nn.BatchNorm1d(16)))
alone = network(nn.BatchNorm1d(16))
train(DDP(model), mine, torch.optim.SGD(model.parameters(), lr=0.1))
train(alone, data, torch.optim.SGD(alone.parameters(), lr=0.1))
for (name, own), expected in zip(
    model.state_dict().items(), alone.state_dict().values(), strict=True
):
    close(own, expected, rtol=1e-4, atol=1e-5, msg=lambda text, name=name: f"{name}: {text}")
# The fewest elements that there is a variance of: one of each channel on each of two ranks.
synchronized, alone = nn.SyncBatchNorm(16), nn.BatchNorm1d(16)
rows = torch.arange(16.0 * size).reshape(size, 16) ** 2
close(synchronized(rows[rank : rank + 1]), alone(rows)[rank : rank + 1], rtol=1e-4, atol=1e-5)
close(synchronized.running_var, alone.running_var, rtol=1e-4, atol=1e-5)

# Ranks that make different numbers of steps.
model = nn.Linear(2, 1)
ddp = DDP(model)
optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
with ddp.join():
    for i in range(2 + rank):
        optimizer.zero_grad()
        ddp(torch.ones(4, 2) * i).sum().backward()
        optimizer.step()
dist.all_gather_object(found, model.weight.detach())
for each in found:
    close(each, found[0], rtol=0, atol=0)
if rank == 0:  # the block is over: nobody else is asked
    ddp.eval()
    with torch.no_grad():
        ddp(torch.ones(4, 2))

with pytest.raises(RuntimeError, match="DDP expects same model across all ranks"):
    DDP(nn.Linear(2, 1 + rank))

# Every sample once an epoch.
sampler = torch.utils.data.DistributedSampler(range(10 * size))
dist.all_gather_object(found, list(sampler))
assert sorted(each for part in found for each in part) == list(range(10 * size))
print("done")
