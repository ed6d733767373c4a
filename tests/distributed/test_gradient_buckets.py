"""How the gradients of `DistributedDataParallel` are summed, bucket by bucket, without other processes."""

import weakref
from types import SimpleNamespace

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist

nn = pytest.importorskip("mindtorch_nn")


@pytest.fixture
def sums(monkeypatch):
    """Of each sum of gradients: whether it is left to another thread, how many numbers, their dtype."""
    found = SimpleNamespace(threads=[], sizes=[], dtypes=[])
    call = dist.all_reduce

    def all_reduce(tensor, *args, async_op=False, **kwargs):
        found.threads.append(async_op)
        found.sizes.append(tensor.numel())
        found.dtypes.append(tensor.dtype)
        return call(tensor, *args, async_op=async_op, **kwargs)

    monkeypatch.setattr(dist, "all_reduce", all_reduce)
    dist.init_process_group("fake", rank=0, world_size=2)
    yield found
    dist.destroy_process_group()


@pytest.mark.parametrize(("cap", "threads"), [(25, [False]), (0, [True, False])])
def test_the_last_sum_is_not_left_to_another_thread(sums, cap, threads):
    model = nn.parallel.DistributedDataParallel(nn.Linear(2, 2), bucket_cap_mb=cap)
    model(torch.ones(1, 2)).sum().backward()
    assert sums.threads == threads
    # The others are taken to have the same sums, so that a mean is half of them.
    assert [p.grad.tolist() for p in model.parameters()] == [[[0.5, 0.5]] * 2, [0.5, 0.5]]


class Watched(nn.Module):
    """A linear layer that notes the dtypes it computes with, in a part that may be computed again."""

    def __init__(self, again):
        super().__init__()
        self.layer, self.again, self.seen = nn.Linear(2, 2), again, []
        self.tied = nn.Linear(2, 2)
        self.tied.weight = self.layer.weight
        self.register_buffer("shift", torch.zeros(2))
        self.register_buffer("count", torch.zeros(1, dtype=torch.int64))

    def forward(self, x):
        if self.again:
            return torch.utils.checkpoint.checkpoint(self.part, x, use_reentrant=False)
        return self.part(x)

    def part(self, x):
        self.seen.append((x.dtype, *(p.dtype for p in self.parameters()), self.shift.dtype))
        return self.tied(self.layer(x)) + self.shift


HALF, WHOLE = torch.bfloat16, torch.float32


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(
    ("dtypes", "computes", "sums_in"),
    [
        ({"param_dtype": HALF}, HALF, HALF),
        ({"param_dtype": HALF, "reduce_dtype": WHOLE}, HALF, WHOLE),
        ({"reduce_dtype": HALF}, WHOLE, HALF),
        ({"buffer_dtype": HALF}, WHOLE, WHOLE),
    ],
)
def test_forward_backward_and_sums_have_dtypes_of_their_own(sums, dtypes, computes, sums_in, again):
    precision = nn.parallel.distributed._MixedPrecision(**dtypes)
    model = nn.parallel.DistributedDataParallel(Watched(again), mixed_precision=precision)
    given = torch.ones(3, 2)
    found = model(given)
    buffer = dtypes.get("buffer_dtype", WHOLE)
    assert {p.dtype for p in model.parameters()} == {WHOLE}
    found.float().sum().backward()
    assert set(model.module.seen) == {(computes, computes, computes, computes, buffer)}
    assert len(model.module.seen) == 1 + again
    assert (model.module.shift.dtype, model.module.count.dtype) == (buffer, torch.int64)
    assert sums.dtypes == [sums_in]
    plain = Watched(again=False)
    plain.load_state_dict(model.module.state_dict())
    plain(given).sum().backward()
    for p, own in zip(plain.parameters(), model.module.parameters(), strict=True):
        assert own.grad.dtype is WHOLE
        torch.testing.assert_close(own.grad, p.grad / 2, rtol=0.05, atol=0.05)


def test_a_forward_that_fails_leaves_the_parameters_what_they_were(sums):
    model = nn.Linear(2, 2)
    before = dict(model.named_parameters())
    precision = nn.parallel.distributed._MixedPrecision(param_dtype=HALF)
    wrapped = nn.parallel.DistributedDataParallel(model, mixed_precision=precision)
    with pytest.raises(RuntimeError, match="shapes"):
        wrapped(torch.ones(1, 3))
    assert all(p is before[name] for name, p in model.named_parameters())
    with pytest.raises(RuntimeError, match="can only be called once"):
        wrapped.register_comm_hook(None, lambda state, bucket: None)


def test_gradients_that_are_delayed_are_summed_last(sums):
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 5), nn.Linear(5, 7))
    delayed = [("2.weight", model[2].weight), ("2.bias", model[2].bias)]
    wrapped = nn.parallel.DistributedDataParallel(
        model,
        bucket_cap_mb=0,
        delay_all_reduce_named_params=delayed,
        param_to_hook_all_reduce=model[0].weight,
    )
    wrapped(torch.ones(1, 2)).sum().backward()
    assert sums.sizes == [5, 15, 3, 6, 35 + 7]
    assert model[2].bias.grad.tolist() == [0.5] * 7


def test_what_hooks_make_of_gradients_is_summed(sums):
    model = nn.parallel.DistributedDataParallel(nn.Linear(2, 2))

    def doubled(p):
        p.grad.mul_(2)

    handle = model.module.weight.register_post_accumulate_grad_hook(doubled)
    model(torch.ones(1, 2)).sum().backward()
    assert model.module.weight.grad.tolist() == [[1.0, 1.0]] * 2
    handle.remove()
    model.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    assert model.module.weight.grad.tolist() == [[0.5, 0.5]] * 2


class Halves(nn.Module):
    """Two layers, one of which a step uses; gradients of the weights are summed where they lie."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(256, 256), nn.Linear(256, 512)])

    def forward(self, x, number):
        return self.parts[number](x)


@pytest.mark.parametrize("keeps", [False, True])
def test_large_gradients_are_summed_where_they_lie(sums, keeps):
    model = nn.parallel.DistributedDataParallel(nn.Linear(256, 256), gradient_as_bucket_view=keeps)
    seen = []
    weight, bias = model.module.parameters()
    weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.data_ptr()))
    for step in range(3):
        model(torch.ones(4, 256)).sum().backward()
        # What is there is added to; the others are taken to have the same sums.
        expected = [2.0, 3.0, 3.5][step]
        assert torch.equal(weight.grad, torch.full((256, 256), expected))
        assert torch.equal(bias.grad, torch.full((256,), expected))
        assert weight.grad.data_ptr() == seen[-1]
    assert sums.sizes == [256, 256 * 256] * 3
    held = weakref.ref(weight.grad.untyped_storage())
    del expected
    model.zero_grad()
    assert held() is None  # not even until the next backward


def test_a_large_gradient_that_nobody_uses_stays_what_it_is(sums):
    model = nn.parallel.DistributedDataParallel(Halves(), find_unused_parameters=True)
    x = torch.ones(4, 256)
    model(x, 0).sum().backward()
    model(x, 1).sum().backward()
    other, weight = (part.weight for part in model.module.parts)
    assert torch.equal(weight.grad, torch.full((512, 256), 2.0))
    assert torch.equal(other.grad, torch.full((256, 256), 2.0))
    assert sums.sizes == [256 + 512, 256 * 512, 256 * 256, 4] * 2


def test_a_recorded_backward_leaves_its_gradients_whole(sums):
    model = nn.parallel.DistributedDataParallel(nn.Linear(256, 256))
    weight = model.module.weight
    seen = []
    weight.register_hook(lambda grad: seen.append(grad))
    model(torch.ones(4, 256)).square().sum().backward(create_graph=True)
    assert not weight.grad.requires_grad
    torch.testing.assert_close(weight.grad * 2, seen[0].detach())


def test_a_hook_of_sums_is_given_large_gradients_with_the_others(sums):
    model = nn.parallel.DistributedDataParallel(nn.Linear(256, 256))
    given = []

    def hook(state, bucket):
        given.append(bucket.buffer().numel())
        done = torch.futures.Future()
        done.set_result(bucket.buffer())
        return done

    loss = model(torch.ones(4, 256)).sum()  # forward has begun
    model.register_comm_hook(None, hook)
    loss.backward()
    assert given == [256 * 256 + 256]
    assert torch.equal(model.module.weight.grad, torch.full((256, 256), 4.0))


def test_large_gradients_are_summed_in_the_dtype_that_is_asked_for(sums):
    precision = nn.parallel.distributed._MixedPrecision(reduce_dtype=HALF)
    model = nn.parallel.DistributedDataParallel(nn.Linear(256, 256), mixed_precision=precision)
    model(torch.ones(4, 256)).sum().backward()
    assert (sums.sizes, sums.dtypes) == ([256 * 256 + 256], [HALF])
    assert model.module.weight.grad.dtype is WHOLE
