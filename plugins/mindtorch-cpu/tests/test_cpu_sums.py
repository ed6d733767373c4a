"""Rounding errors of sums stay small, whatever is added up, along which dimensions and in which layout."""

import math
import random

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu import summation
from mindtorch_cpu.native.kernels import KERNELS

nn = torch.nn.functional
EPS = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52}


def layouts(rng, shape):
    """A view of random numbers, of about the shape, with strides of any kind."""
    rank = len(shape)
    base = np.random.default_rng(rng.randrange(1 << 30)).normal(0.01, 0.05, [2 * n for n in shape])
    view = base[tuple(slice(0, None, rng.choice([1, 2])) for _ in shape)]
    view = view.transpose(rng.sample(range(rank), rank))
    if rng.random() < 0.3:
        at = rng.randrange(rank)
        one = view[tuple(slice(0, 1) if i == at else slice(None) for i in range(rank))]
        view = np.broadcast_to(one, view.shape)
    return view


def tensor_of(view, dtype):
    """A tensor with the strides of an array."""
    base = view if view.base is None else view.base
    while base.base is not None:
        base = base.base
    steps = [s // view.itemsize for s in view.strides]
    offset = (view.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // 8
    whole = torch.from_numpy(np.ascontiguousarray(base).reshape(-1)).to(getattr(torch, dtype))
    return whole.as_strided(view.shape, steps, offset)


@pytest.mark.parametrize("dtype", list(EPS))
@pytest.mark.parametrize("seed", range(60))
def test_sums_and_variances_of_any_layout(dtype, seed):
    rng = random.Random(f"{dtype} {seed}")
    shape = [rng.choice([1, 2, 7, 60, 300]) for _ in range(rng.randint(1, 4))]
    while math.prod(shape) > 200_000:
        shape[rng.randrange(len(shape))] = 1
    x = tensor_of(layouts(rng, shape), dtype)
    dims = tuple(rng.sample(range(x.dim()), rng.randint(1, x.dim())))
    exact = np.asarray(x.double().numpy(), np.longdouble)
    wanted, scale = exact.sum(dims), np.abs(exact).sum(dims)
    rounding = EPS[dtype] * np.abs(wanted) * (dtype in ("float16", "bfloat16"))
    bound = 8 * max(EPS[dtype] if dtype == "float64" else EPS["float32"], 2**-52) * scale + rounding
    found = x.sum(dims)
    with torch.pipeline():
        deferred = x.sum(dims)
    for made in (found, deferred):
        assert made.shape == wanted.shape
        assert made.is_contiguous()
        assert (np.abs(made.double().numpy() - wanted) <= bound).all()
    spread = x.var(dims, correction=0).double().numpy()
    np.testing.assert_allclose(spread, exact.var(dims), 4 * EPS[dtype] + 1e-6, 1e-6)


COLUMNS = {
    "narrow": ((1_000_000, 3), (0,)),
    "one": ((3_000_000, 1), (0,)),
    "odd": ((400_001, 7), (0,)),
    "broad": ((3_000, 1_000), (0,)),
    "images": ((70, 5, 90, 90), (0, 2, 3)),
    "middle": ((40, 6_000, 11), (1,)),
    "leading two": ((500, 400, 9), (0, 1)),
    "short rows": ((200_000, 3, 4), (0, 2)),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64"])
def test_numbers_that_naive_sums_lose(name, dtype):
    shape, dims = COLUMNS[name]
    d = getattr(torch, dtype)
    x = torch.full(shape, 0.1, dtype=d)
    count = math.prod(shape[i] for i in dims)
    each = x.flatten()[0].item()
    close = 2**-8 if dtype == "bfloat16" else 1e-6
    assert torch.allclose(x.sum(dims), torch.tensor(each * count, dtype=d), close)
    assert torch.allclose(x.mean(dims), torch.tensor(each, dtype=d), close)
    assert x.var(dims).max().item() < 1e-12
    if dtype == "float32":
        root = torch.tensor(0.1 * count**0.5)
        assert torch.allclose(torch.linalg.vector_norm(x, dim=dims), root, close)


def test_a_small_spread_on_a_large_mean():
    numbers = np.random.default_rng(0).normal(2000, 10, (1_000_000, 3)).astype(np.float32)
    x = torch.from_numpy(numbers)
    wanted = torch.from_numpy(numbers.astype(np.float64).std(0, ddof=1))
    assert torch.allclose(x.std(0).double(), wanted, 1e-6)
    assert torch.allclose(x.t().contiguous().std(1).double(), wanted, 1e-6)
    with torch.pipeline():
        deferred = x.std(0)
    assert torch.equal(deferred, x.std(0))


@pytest.mark.parametrize("far", [200, 20_000])
@pytest.mark.parametrize("shape", [(200, 10_000), (3_000, 50), (40, 1_000)])
def test_the_spread_of_few_rows_far_from_zero(shape, far):
    """Means of parts of a column differ by less than a large mean is rounded by."""
    numbers = np.random.default_rng(0).normal(10 * far, 10, shape).astype(np.float32)
    x = torch.from_numpy(numbers)
    wanted = numbers.astype(np.float64).var(0, ddof=1)
    np.testing.assert_allclose(x.var(0).numpy(), wanted, rtol=1e-6)
    np.testing.assert_allclose(x.T.contiguous().var(1).numpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("count", [4, 100_000, 700_000])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_variance_of_numbers_near_the_limit(dtype, count):
    d = getattr(torch, dtype)
    top = torch.finfo(d).max
    assert torch.full((count,), top, dtype=d).var().item() == 0
    assert torch.full((count, 2), top, dtype=d).std(0).tolist() == [0, 0]
    if dtype != "float64":
        apart = torch.tensor([top / 2, -top / 2], dtype=d).repeat(count // 2)
        root = apart.std(correction=0).item()
        assert math.isclose(root, abs(apart[0].item()), rel_tol=EPS[dtype])


@pytest.mark.parametrize("count", [10, 300_000])
def test_the_spread_of_numbers_whose_squares_vanish(count):
    x = torch.tensor([1e-25, 3e-25]).repeat(count // 2)
    assert math.isclose(x.std(correction=0).item(), 1e-25, rel_tol=1e-5)
    assert x[:1].repeat(count).var().item() == 0


def test_infinities_and_nan_reach_the_sums_they_belong_to():
    x = torch.ones(3000, 4)
    x[7, 1], x[9, 2], x[1, 3], x[2, 3] = math.inf, math.nan, math.inf, -math.inf
    assert str(x.sum(0).tolist()) == "[3000.0, inf, nan, nan]"
    assert x.var(0)[0] == 0
    assert x.var(0)[1:].isnan().all()
    assert (torch.full((300_000,), 3e38) * 2).sum().item() == math.inf


def test_what_is_repeated_without_memory_is_counted():
    row = torch.tensor([0.1, -3.0, math.inf])
    found = row.expand(1_000_000, 3).sum(0)
    assert torch.allclose(found, torch.tensor([100_000.0, -3_000_000.0, math.inf]))
    assert row[:2].expand(70_000, 2).t().sum().item() == pytest.approx(-203_000)
    assert row[:1].expand(500, 700).sum(1).stride() == (1,)


def test_the_sum_does_not_depend_on_threads():
    x = torch.from_numpy(np.random.default_rng(3).normal(size=(3000, 1500)).astype(np.float32))
    threads = torch.get_num_threads()
    made = []
    try:
        for count in (1, 4):
            torch.set_num_threads(count)
            made.append([x.sum(0), x.sum(1), x.sum(), x.half().sum(0), x.t().sum(0), x.var(0)])
    finally:
        torch.set_num_threads(threads)
    for a, b in zip(*made, strict=True):
        assert torch.equal(a, b)


ROWS = 600_000


def test_gradients_of_biases():
    bias = torch.zeros(3, requires_grad=True)
    x = torch.full((ROWS, 2), 0.25)
    y = nn.linear(x, torch.ones(3, 2), bias)
    y.backward(torch.full((ROWS, 3), 0.1))
    assert torch.allclose(bias.grad, torch.full((3,), 0.1 * ROWS), 1e-6)
    assert torch.allclose(torch.einsum("ij->j", x), torch.full((2,), 0.25 * ROWS), 1e-6)


def test_statistics_of_batches_and_their_gradients():
    x = torch.from_numpy(np.random.default_rng(1).normal(50, 0.5, (ROWS, 3)).astype(np.float32))
    mean, var = torch.zeros(3), torch.ones(3)
    weight = torch.ones(3, requires_grad=True)
    bias = torch.zeros(3, requires_grad=True)
    y = nn.batch_norm(x, mean, var, weight, bias, True, 1.0, 1e-5)
    wide = x.double().numpy()
    assert torch.allclose(mean.double(), torch.from_numpy(wide.mean(0)), 1e-6)
    assert torch.allclose(var.double(), torch.from_numpy(wide.var(0, ddof=1)), 1e-5)
    y.backward(torch.full((ROWS, 3), 0.1))
    assert torch.allclose(bias.grad, torch.full((3,), 0.1 * ROWS), 1e-6)
    z = nn.layer_norm(x, (3,), weight, bias)
    bias.grad = None
    z.backward(torch.full((ROWS, 3), 0.1))
    assert torch.allclose(bias.grad, torch.full((3,), 0.1 * ROWS), 1e-6)


@pytest.mark.parametrize("rows", [20_000, ROWS])
def test_softmax_over_many_rows(rows):
    x = torch.full((rows, 3), 0.1)
    assert torch.allclose(x.softmax(0) * rows, torch.ones(()), 1e-6)
    assert torch.allclose(x.log_softmax(0), torch.tensor(-math.log(rows)), 1e-6)
    assert torch.allclose(x.logsumexp(0), torch.tensor(math.log(rows) + 0.1), 1e-6)


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("width", [3, 17, 49, 63])
def test_many_short_rows_are_added_in_numpys_order(width, dtype):
    x = torch.randn(200, 100, width, dtype=getattr(torch, dtype))
    wanted = np.add.reduce(x.numpy(), 2)
    assert x.sum(2).numpy().tobytes() == wanted.tobytes()
    assert x.mean(2).numpy().tobytes() == (wanted / wanted.dtype.type(width)).tobytes()


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_of_rows_do_not_depend_on_how_many_a_thread_adds_up(threads, dtype, monkeypatch):
    before = torch.get_num_threads()
    x = torch.randn(300, 700, dtype=getattr(torch, dtype))
    wanted = x.sum(-1).tolist()  # all at once
    monkeypatch.setattr(summation, "_PIECE", 700 * 20)
    monkeypatch.setattr(summation, "are_looped", lambda x: False)
    parts = []
    share_out = summation.share_out
    monkeypatch.setattr(
        summation,
        "share_out",
        lambda work, items: (parts.append(len(items)), share_out(work, items)),
    )
    torch.set_num_threads(threads)
    found = x.sum(-1).tolist(), x.view(300, 70, 10).sum((1, 2)).tolist()
    torch.set_num_threads(before)
    assert found == (wanted, wanted)
    assert parts == [2 * threads] * 2


@pytest.mark.usefixtures("by_kernels")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "shape", [(300, 1000), (1100, 700), (3, 200_000), (40, 33, 1500), (4_000_000,)]
)
def test_compiled_sums_of_rows_are_the_same_with_any_number_of_threads(shape, dtype, monkeypatch):
    x = torch.randn(*shape, dtype=getattr(torch, dtype))
    found = []
    before = torch.get_num_threads()
    for threads in (1, 2, 3, 7):
        torch.set_num_threads(threads)
        found.append(
            [x.sum(-1).tolist(), x[::2].sum(-1).tolist(), x.sum().item(), x.mean(-1).tolist()]
        )
    torch.set_num_threads(before)
    monkeypatch.setattr(KERNELS, "mode", "off")
    wanted = [x.sum(-1).tolist(), x[::2].sum(-1).tolist(), x.sum().item(), x.mean(-1).tolist()]
    assert found == [wanted] * 4
