"""How the gradients of `DistributedDataParallel` are summed, bucket by bucket, without other processes."""

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


@pytest.mark.parametrize(("cap", "threads"), [(25, [False]), (0, [True, True])])
def test_an_only_sum_is_not_left_to_another_thread(sums, cap, threads):
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
