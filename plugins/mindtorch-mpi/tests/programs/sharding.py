"""fully_shard: what one process computes on all batches, several compute with parts of the parameters."""

import copy
import dataclasses
import sys

import pytest
from small_models import Transformer, perceptron

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core import nn
from mindtorch_core.distributed.fsdp import (
    CPUOffloadPolicy,
    FSDPModule,
    MixedPrecisionPolicy,
    fully_shard,
    register_fsdp_forward_method,
)
from mindtorch_core.distributed.tensor import DTensor, Replicate, Shard

dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()
close = torch.testing.assert_close


def shard(model, parts, **options):
    for part in parts:
        fully_shard(part, **options)
    return fully_shard(model, **options)


def whole(model):
    return {
        name: t.full_tensor() if isinstance(t, DTensor) else t
        for name, t in model.state_dict().items()
    }


def same(model, alone, **tolerance):
    found, expected = whole(model), alone.state_dict()
    assert list(found) == list(expected)
    for name, t in expected.items():
        close(found[name], t, msg=name, **tolerance)


def train(model, batches, optimizer, loss, norm=0.5):
    norms = []
    for x, y in batches:
        optimizer.zero_grad()
        loss(model(x), y).backward()
        found = nn.utils.clip_grad_norm_(model.parameters(), norm)
        norms.append(float(found))
        optimizer.step()
    return norms


def mine(batches):
    return [(x[rank::size], y[rank::size]) for x, y in batches]


draw = torch.Generator().manual_seed(1)
data = [
    (torch.randn(4 * size, 5, generator=draw), torch.randn(4 * size, 3, generator=draw))
    for _ in range(4)
]
texts = [torch.randint(0, 11, (2 * size, 9), generator=draw) for _ in range(3)]
sentences = [(t[:, :-1], t[:, 1:]) for t in texts]
mse = nn.functional.mse_loss


def cross(logits, words):
    return nn.functional.cross_entropy(logits.flatten(0, 1), words.flatten())


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1),
    # Gradients that are 0 but for rounding, as of the keys' biases, are to make no steps.
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, eps=1e-3),
    "foreach": lambda p: torch.optim.AdamW(p, lr=0.01, foreach=True),
    "fused": lambda p: torch.optim.Adam(p, lr=0.01, fused=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01),
}


def check_perceptrons():
    for number, (name, make) in enumerate(OPTIMIZERS.items()):
        alone = perceptron()
        norms = train(alone, data, make(alone.parameters()), mse)
        model = perceptron()
        reshard = (None, True, False)[number % 3]
        shard(model, [model[0], model[2], model[4]], reshard_after_forward=reshard)
        optimizer = make(model.parameters())
        found = train(model, mine(data), optimizer, mse)
        same(model, alone)
        close(torch.tensor(found), torch.tensor(norms), msg=name)


def check_transformer():
    for name in ("sgd", "adamw"):
        alone = Transformer()
        norms = train(alone, sentences, OPTIMIZERS[name](alone.parameters()), cross)
        model = Transformer()
        shard(model, model.blocks)
        assert model.last.weight is model.embedding.weight
        assert len(list(model.parameters())) == len(list(alone.parameters()))
        assert [n for n, _ in model.named_parameters()] == [n for n, _ in alone.named_parameters()]
        found = train(model, mine(sentences), OPTIMIZERS[name](model.parameters()), cross)
        assert model.last.weight is model.embedding.weight
        same(model, alone, rtol=1e-4, atol=1e-5)
        close(torch.tensor(found), torch.tensor(norms), rtol=1e-4, atol=1e-5)


def check_parts():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 2 * size))
    before = copy.deepcopy(model.state_dict())
    fully_shard(model[0])
    fully_shard(
        model,
        shard_placement_fn=lambda p: Shard(1) if p.ndim == 2 and not p.shape[1] % size else None,
    )
    step = -(-5 // size)
    sizes = [max(0, min(step, 5 - step * r)) for r in range(size)]
    weight = model[0].weight
    assert isinstance(weight, DTensor)
    assert isinstance(weight, nn.Parameter)
    assert weight.placements == (Shard(0),)
    assert tuple(weight.shape) == (5, 3)
    assert tuple(weight.to_local().shape) == (sizes[rank], 3)
    assert isinstance(model, FSDPModule)
    assert isinstance(model, nn.Sequential)
    assert type(model).__name__ == "FSDPSequential"
    close(whole(model), dict(before))
    if not 5 % size:
        assert model[1].weight.placements == (Shard(1),)
    with pytest.raises(NotImplementedError, match="does not support uneven sharding on dim 1"):
        fully_shard(nn.Linear(2 * size + 1, 2), shard_placement_fn=lambda p: Shard(p.ndim - 1))
    with pytest.raises(ValueError, match="does not support containers"):
        fully_shard(nn.ModuleList([nn.Linear(1, 1)]))
    scalar = nn.Module()
    scalar.p = nn.Parameter(torch.tensor(1.0))
    with pytest.raises(ValueError, match="doesn't support scalar parameters"):
        fully_shard(scalar)
    with pytest.raises(AssertionError, match="only be applied to a module once"):
        fully_shard(model)
    with pytest.raises(AssertionError, match="does not support deepcopy"):
        copy.deepcopy(model)
    with pytest.raises(ValueError, match=f"should be a factor of {size}, not 5"):
        fully_shard(nn.Linear(2, 2), reshard_after_forward=5)
    tied = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    tied[1].weight = tied[0].weight
    fully_shard(tied[0])
    with pytest.raises(ValueError, match=r"Linear.weight is shared .* fully_shard\(\[a, b\]\)"):
        fully_shard(tied)


def check_where_parameters_are():
    model = perceptron()
    shard(model, [model[0], model[2]])
    inside = []
    model[2].register_forward_pre_hook(
        lambda m, _: inside.append((type(m.weight), tuple(m.weight.shape), tuple(m.bias.shape)))
    )
    loss = model(mine(data)[0][0]).sum()
    assert inside == [(nn.Parameter, (7, 7), (7,))]
    assert isinstance(model[2].weight, DTensor)  # given up
    assert not isinstance(model[4].weight, DTensor)  # the root's own stay until backward
    loss.backward()
    assert isinstance(model[4].weight, DTensor)
    assert isinstance(model[4].weight.grad, DTensor)
    model.eval()
    with torch.no_grad():
        expected = perceptron()(data[0][0])
        close(model(data[0][0]), expected)
    handle = model[0].unshard(async_op=True)
    handle.wait()
    assert tuple(model[0].weight.shape) == (7, 5)
    assert not isinstance(model[0].weight, DTensor)
    model[0].reshard()
    assert isinstance(model[0].weight, DTensor)
    assert all(isinstance(t, DTensor) for t in model.state_dict().values())
    # A change of the parts between two forwards is seen by the second.
    with torch.no_grad():
        before = model(data[0][0])
        for p in model.parameters():
            if isinstance(p, DTensor):
                p.mul_(0.5)
        model.reshard()
        for p in model[4].parameters():
            p.zero_()
        assert not (model(data[0][0]) == before).all()
        close(model(data[0][0]), torch.zeros_like(before))


def check_accumulation():
    for how in ("kept", "summed", "whole"):
        alone, model = perceptron(), perceptron()
        shard(model, [model[0], model[2]])
        for number, (x, y) in enumerate(mine(data)[:3]):
            if how != "summed":
                model.set_requires_gradient_sync(number == 2)
            if how == "whole":
                model.set_reshard_after_backward(number == 2)
            mse(model(x), y).backward()
            assert (model[0].weight.grad is None) == (how != "summed" and number < 2)
        for x, y in data[:3]:
            mse(alone(x), y).backward()
        for own, expected in zip(model.parameters(), alone.parameters(), strict=True):
            close(own.grad.full_tensor(), expected.grad)


def check_mixed_precision():
    half = torch.bfloat16
    policy = MixedPrecisionPolicy(param_dtype=half, reduce_dtype=torch.float32)
    root = dataclasses.replace(policy, output_dtype=torch.float64)
    model = perceptron()
    seen = []
    model[2].register_forward_hook(
        lambda m, args, result: seen.append((m.weight.dtype, args[0].dtype, result.dtype))
    )
    fully_shard(model[0], mp_policy=policy)
    fully_shard(model[2], mp_policy=policy)
    fully_shard(model, mp_policy=root)
    x, y = mine(data)[0]
    found = model(x)
    assert found.dtype is torch.float64
    assert seen == [(half, half, half)]
    mse(found.float(), y).backward()
    assert {p.grad.dtype for p in model.parameters()} == {torch.float32}
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    alone = perceptron()
    mse(alone(data[0][0]), data[0][1]).backward()
    for own, expected in zip(model.parameters(), alone.parameters(), strict=True):
        close(own.grad.full_tensor(), expected.grad, rtol=0.05, atol=0.02)
    reduced = perceptron()
    fully_shard(
        reduced, mp_policy=MixedPrecisionPolicy(param_dtype=half, cast_forward_inputs=False)
    )
    with pytest.raises(RuntimeError, match="dtype"):
        reduced(x)
    reduced.reset_iter_state()
    assert isinstance(reduced[0].weight, DTensor)
    reduced(x.to(half)).sum().backward()
    assert reduced[0].weight.grad.dtype is torch.float32


def check_frozen_unused_and_ignored():
    model, alone = perceptron(), perceptron()
    for each in (model, alone):
        each[0].weight.requires_grad_(False)
        for p in each[2].parameters():
            p.requires_grad_(False)
    shard(model, [model[0], model[2]])
    assert not model[2].weight.requires_grad
    train(model, mine(data), OPTIMIZERS["adamw"](model.parameters()), mse)
    train(alone, data, OPTIMIZERS["adamw"](alone.parameters()), mse)
    same(model, alone)

    class Half(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.a, self.b = nn.Linear(3, 2), nn.Linear(3, 2)

        def forward(self, x, first=True):
            return (self.a if first else self.b)(x)

    model = fully_shard(Half())
    model(torch.ones(1, 3)).sum().backward()
    assert model.b.weight.grad is None
    assert model.a.weight.grad is not None
    model.zero_grad()
    model.set_reduce_scatter_unused_params(True)
    model(torch.ones(1, 3), rank == 0).sum().backward()
    close(model.a.weight.grad.full_tensor(), torch.full((2, 3), 1 / size))
    close(model.b.weight.grad.full_tensor(), torch.full((2, 3), 1 - 1 / size))
    model = Half()
    kept = model.b.weight
    fully_shard(model, ignored_params={kept})
    assert model.b.weight is kept
    assert isinstance(model.b.bias, DTensor)


def check_groups_of_modules():
    alone, model = perceptron(), perceptron()
    fully_shard([model[2], model[4]])
    fully_shard(model, offload_policy=CPUOffloadPolicy())
    model[2].set_modules_to_backward_prefetch([model])
    model.set_modules_to_forward_prefetch([model[2]])
    train(model, mine(data), OPTIMIZERS["sgd"](model.parameters()), mse)
    train(alone, data, OPTIMIZERS["sgd"](alone.parameters()), mse)
    same(model, alone)

    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.inner = nn.Linear(3, 3)

        def forward(self, x):
            return self.inner(self.inner(x).relu())

        def other(self, x):
            return torch.nn.functional.linear(x, self.inner.weight)

    alone, model = Twice(), Twice()
    fully_shard(model.inner)
    fully_shard(model)
    register_fsdp_forward_method(model.inner, "extra_repr")
    x = torch.randn(2 * size, 3, generator=torch.Generator().manual_seed(5))
    model(x[rank::size]).square().mean().backward()
    alone(x).square().mean().backward()
    for own, expected in zip(model.parameters(), alone.parameters(), strict=True):
        close(own.grad.full_tensor(), expected.grad)
    model = fully_shard(Twice())
    register_fsdp_forward_method(model, "other")
    close(model.other(x), alone.other(x))
    with pytest.raises(ValueError, match="does not have a method nothing"):
        register_fsdp_forward_method(model, "nothing")
    inner = Twice()
    fully_shard(inner.inner)
    fully_shard(inner)
    inner.inner(x)
    with pytest.raises(RuntimeError, match="forward through the root module first"):
        inner(x)


def check_recomputation():
    from mindtorch_core.utils.checkpoint import checkpoint

    for reentrant in (False, True):
        alone, model = perceptron(), perceptron()
        shard(model, [model[0], model[2], model[4]])
        x, y = mine(data)[0]

        def run(net, x, reentrant=reentrant):
            x = x.detach().requires_grad_()
            for part in net:
                x = checkpoint(part, x, use_reentrant=reentrant)
            return x

        model.forward = lambda x, model=model: run(model, x)
        mse(model(x), y).backward()
        mse(run(alone, data[0][0]), data[0][1]).backward()
        for own, expected in zip(model.parameters(), alone.parameters(), strict=True):
            close(own.grad.full_tensor(), expected.grad)


def check_several_forwards():
    """Two forwards before a backward, roots that stand side by side, and other layers."""
    alone, model = perceptron(), perceptron()
    shard(model, [model[0], model[2]])
    for net, batches in ((model, mine(data)), (alone, data)):
        first, second = (mse(net(x), y) for x, y in batches[:2])
        (first + 2 * second).backward()
    for own, expected in zip(model.parameters(), alone.parameters(), strict=True):
        close(own.grad.full_tensor(), expected.grad)
    alone, model = perceptron(), perceptron()
    for part in (model[0], model[2], model[4]):
        fully_shard(part)
    train(model, mine(data), OPTIMIZERS["sgd"](model.parameters()), mse)
    train(alone, data, OPTIMIZERS["sgd"](alone.parameters()), mse)
    same(model, alone)

    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.sliding = nn.Conv1d(3, 5, 3, padding=1)
            self.recurrent = nn.LSTM(5, 3, num_layers=2, batch_first=True)
            self.last = nn.Linear(3, 3)

        def forward(self, x):
            x = self.sliding(x.transpose(1, 2)).transpose(1, 2)
            return self.last(self.recurrent(x)[0])

    alone, model = Mixed(), Mixed()
    shard(model, [model.sliding, model.recurrent])
    x = torch.randn(2 * size, 4, 3, generator=torch.Generator().manual_seed(2))
    for _ in range(2):
        model(x[rank::size]).square().mean().backward()
        alone(x).square().mean().backward()
    for own, expected in zip(model.parameters(), alone.parameters(), strict=True):
        close(own.grad.full_tensor(), expected.grad)
    model.eval()
    with torch.no_grad():
        close(model(x), alone(x))


def check_what_is_begun_ahead():
    """From the second forward on, a group is sent for while the one before it computes."""
    model = perceptron()
    shard(model, [model[0], model[2]])
    sent, begun = [], dist.all_gather_single

    def counted(*args, **kwargs):
        sent.append(tuple(args[1].shape))
        return begun(*args, **kwargs)

    seen = []
    model[0].register_forward_hook(lambda *_: seen.append(len(sent)))
    model[4].register_full_backward_hook(lambda *_: seen.append(len(sent)))
    dist.all_gather_single = counted
    try:
        for _ in range(2):
            sent.clear()
            seen.clear()
            model(mine(data)[0][0].requires_grad_()).sum().backward()
    finally:
        dist.all_gather_single = begun
    # Forward: the root's, the first layer's, and ahead the second's. Backward: those of both again.
    assert seen == [3, 3]
    assert len(sent) == 5


def check_states():
    model, other = perceptron(), perceptron()
    shard(model, [model[0]])
    other = shard(other, [other[2]])
    with torch.no_grad():
        for p in other.parameters():
            p.mul_(2)
    model.load_state_dict(other.state_dict())
    close(whole(model), whole(other))
    model.double()
    assert model[0].weight.dtype is torch.float64
    assert model(data[0][0].double()).dtype is torch.float64
    with torch.device("meta"):
        late = nn.Sequential(nn.Linear(5, 7), nn.Linear(7, 3))
    fully_shard(late)
    with pytest.raises(RuntimeError, match="should be materialized from meta device"):
        late(data[0][0])
    late.reset_iter_state()
    late.to_empty(device="cpu")
    torch.manual_seed(4)
    for part in late:
        part.reset_parameters()
    torch.manual_seed(4)
    expected = nn.Sequential(nn.Linear(5, 7), nn.Linear(7, 3))
    torch.manual_seed(4)
    for part in expected:
        part.reset_parameters()
    close(late(data[0][0]), expected(data[0][0]))
    called = []
    late[0].weight if isinstance(late[0].weight, DTensor) else late.reshard()
    late[0].weight.register_post_accumulate_grad_hook(lambda p: called.append(tuple(p.grad.shape)))
    late(data[0][0]).sum().backward()
    assert called == [(7, 5)]


def check_copies_of_parts():
    mesh = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicate", "shard"))
    alone, model = perceptron(), perceptron()
    shard(model, [model[0], model[2]], mesh=mesh)
    assert model[0].weight.placements == (Replicate(), Shard(0))
    train(model, mine(data), OPTIMIZERS["adamw"](model.parameters()), mse)
    train(alone, data, OPTIMIZERS["adamw"](alone.parameters()), mse)
    same(model, alone)
    model, alone = perceptron(), perceptron()
    shard(model, [model[0], model[2]], mesh=mesh)
    for number, (x, y) in enumerate(mine(data)[:2]):
        model.set_requires_all_reduce(number == 1)
        mse(model(x), y).backward()
    for x, y in data[:2]:
        mse(alone(x), y).backward()
    for own, expected in zip(model.parameters(), alone.parameters(), strict=True):
        close(own.grad.full_tensor(), expected.grad)


def check_fewer_parts_after_forward():
    """Between forward and backward each two of the ranks have the parameters among them."""
    alone, model = perceptron(), perceptron()
    shard(model, [model[0], model[2]], reshard_after_forward=2)
    inner = model[0]._get_fsdp_state().group
    x, y = mine(data)[0]
    loss = mse(model(x), y)
    assert dist.get_process_group_ranks(inner.near) == [rank // 2 * 2, rank // 2 * 2 + 1]
    assert isinstance(model[0].weight, DTensor)
    assert [part.numel() for part in inner._between] == [2 * p.numel for p in inner.parameters]
    loss.backward()
    assert inner._between is None
    found = train(model, mine(data), OPTIMIZERS["adamw"](model.parameters()), mse)
    expected = train(alone, data, OPTIMIZERS["adamw"](alone.parameters()), mse)
    same(model, alone)
    close(torch.tensor(found), torch.tensor(expected))
    with torch.no_grad():  # parts that have been changed since are got anew
        before = model(x)
        model[0].weight.mul_(2)
        assert not torch.equal(model(x), before)
    model.set_reshard_after_forward(False)
    model(x)
    assert not isinstance(model[0].weight, DTensor)


for name in sys.argv[1:]:
    globals()[f"check_{name}"]()
print("done")
