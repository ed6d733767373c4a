"""Ops at sizes where the CPU works by blocks and in threads agree with PyTorch."""

import pytest

np = pytest.importorskip("numpy")
oracle = pytest.importorskip("torch")

import mindtorch_core as torch  # noqa: E402

nn, oracle_nn = torch.nn.functional, oracle.nn.functional


def both(array, dtype="float32", *, requires_grad=False):
    """A tensor of each library with the same elements."""
    ours = torch.from_numpy(array).to(getattr(torch, dtype))
    theirs = oracle.from_numpy(array.copy()).to(getattr(oracle, dtype))
    return ours.requires_grad_(requires_grad), theirs.requires_grad_(requires_grad)


def numbers(*shape, seed=0, scale=1.0):
    return np.random.default_rng(seed).standard_normal(shape) * scale


def agree(ours, theirs, **tolerances):
    """Values, shape and dtype are those of PyTorch."""
    assert str(ours.dtype) == str(theirs.dtype)
    assert tuple(ours.shape) == tuple(theirs.shape)
    made = oracle.tensor(ours.detach().to(torch.float64).numpy())
    oracle.testing.assert_close(
        made, theirs.detach().to(oracle.float64), equal_nan=True, **tolerances
    )


CLOSE = {
    "float32": {"rtol": 2e-5, "atol": 2e-5},
    "float64": {"rtol": 1e-10, "atol": 1e-10},
    "bfloat16": {"rtol": 2e-2, "atol": 2e-2},
    "float16": {"rtol": 3e-3, "atol": 3e-3},
}


def compare(compute, arrays, dtype, *, seed=7):
    """A result and its gradients; PyTorch computes in float32 what is rounded to half precision."""
    wide = dtype if dtype.startswith("float64") else "float32"
    ours = [both(a, dtype)[0].requires_grad_() for a in arrays]
    theirs = [both(a, dtype)[1].to(getattr(oracle, wide)).requires_grad_() for a in arrays]
    found, wanted = compute(torch, nn, *ours), compute(oracle, oracle_nn, *theirs)
    rounded = getattr(oracle, dtype)
    agree(found, wanted.to(rounded), **CLOSE[dtype])
    g, h = both(numbers(*found.shape, seed=seed), dtype)
    found.backward(g)
    wanted.backward(h.to(wanted.dtype))
    for a, b in zip(ours, theirs, strict=True):
        scale = max(1.0, float(b.grad.abs().max()))  # of parameters they are large sums
        agree(a.grad / scale, (b.grad / scale).to(rounded), **CLOSE[dtype])


DTYPES = pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
SHAPES = {
    "last": ((700, 130), -1),
    "first": ((130, 700), 0),
    "middle": ((9, 70, 90), 1),
    "one large slab": ((600, 1000), 0),
    "one row": ((1, 90_001), -1),
    "rows of one": ((40_000, 1), -1),
}


@DTYPES
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_softmax(name, shape, scale, dtype):
    sizes, dim = SHAPES[shape]
    compare(lambda t, nn, x: getattr(t, name)(x, dim), [numbers(*sizes, scale=scale)], dtype)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_of_what_is_not_finite(name):
    x = numbers(600, 100)
    x[3, 5], x[4, :], x[5, 7], x[6, 1] = np.nan, -np.inf, np.inf, -np.inf
    for a in (x, np.ascontiguousarray(x.T).T):
        ours, theirs = both(a)
        for dim in (-1, 0):
            wanted = getattr(oracle, name)(theirs, dim)
            agree(getattr(torch, name)(ours, dim), wanted, **CLOSE["float32"])


def test_softmax_keeps_small_differences_of_large_elements():
    x = numbers(400, 100, scale=1e-3) + 3e4
    ours, theirs = both(x)
    agree(torch.log_softmax(ours, -1), oracle.log_softmax(theirs, -1), rtol=1e-6, atol=1e-6)


def test_softmax_in_another_dtype():
    ours, theirs = both(np.round(numbers(300, 200), 2).astype("float32"))
    wanted = oracle.softmax(theirs, 0, dtype=oracle.float64)
    agree(torch.softmax(ours, 0, dtype=torch.float64), wanted, **CLOSE["float64"])


@DTYPES
@pytest.mark.parametrize("shape", [(300, 257), (2, 9000), (9000, 5), (7, 20_001)])
def test_layer_norm(shape, dtype):
    width = shape[-1:]
    arrays = [numbers(*shape) + 3, numbers(*width, seed=1), numbers(*width, seed=2)]
    compare(lambda t, nn, x, w, b: nn.layer_norm(x, width, w, b), arrays, dtype)
    compare(lambda t, nn, x: nn.layer_norm(x, width), arrays[:1], dtype)


def test_layer_norm_of_mixed_dtypes():
    x, y = both(numbers(500, 128), "bfloat16")
    w, v = both(numbers(128))
    for made, wanted in zip(
        torch.native_layer_norm(x, [128], w, None, 1e-5),
        oracle.native_layer_norm(y, [128], v, None, 1e-5),
        strict=True,
    ):
        agree(made, wanted, rtol=2e-2, atol=2e-2)


@DTYPES
@pytest.mark.parametrize("shape", [(6, 8, 30, 31), (4000, 16), (300, 6, 5), (2, 4, 40_000)])
def test_batch_norm(shape, dtype):
    channels = shape[1]
    arrays = [numbers(*shape) + 3, numbers(channels, seed=1), numbers(channels, seed=2)]
    compare(lambda t, nn, x, w, b: nn.batch_norm(x, None, None, w, b, True), arrays, dtype)
    running = numbers(channels, seed=3), numbers(channels, seed=4) ** 2 + 0.1
    for training in (False, True):
        means, variances = (both(r, dtype) for r in running)
        ours = nn.batch_norm(both(arrays[0], dtype)[0], means[0], variances[0], training=training)
        theirs = oracle_nn.batch_norm(
            both(arrays[0], dtype)[1], means[1], variances[1], training=training
        )
        for a, b in ((ours, theirs), means, variances):
            agree(a, b, **CLOSE[dtype])


def test_batch_norm_by_running_statistics_has_gradients():
    means, variances = both(numbers(8)), both(numbers(8, seed=3) ** 2 + 0.1)

    def normed(t, nn, x, w, b):
        which = 0 if t is torch else 1
        return nn.batch_norm(x, means[which], variances[which], w, b)

    compare(normed, [numbers(20, 8, 30, 10), numbers(8, seed=1), numbers(8, seed=2)], "float32")


@DTYPES
@pytest.mark.parametrize(
    ("shape", "groups"), [((6, 8, 30, 31), 4), ((2000, 16), 2), ((3, 6, 9000), 1)]
)
def test_group_norm(shape, groups, dtype):
    channels = shape[1]
    arrays = [numbers(*shape) + 3, numbers(channels, seed=1), numbers(channels, seed=2)]
    compare(lambda t, nn, x, w, b: nn.group_norm(x, groups, w, b), arrays, dtype)
    compare(lambda t, nn, x: nn.group_norm(x, groups), arrays[:1], dtype)


def test_norms_of_other_layouts():
    x = numbers(8, 30, 31, 6)

    def turned(normed):
        return lambda t, nn, x: normed(nn, x.permute(0, 3, 1, 2))

    compare(turned(lambda nn, x: nn.batch_norm(x, None, None, training=True)), [x], "float32")
    compare(turned(lambda nn, x: nn.group_norm(x, 3)), [x], "float32")
    compare(turned(lambda nn, x: nn.layer_norm(x, (30, 31))), [x], "float32")


def test_norms_can_be_differentiated_twice():
    shapes = (6, 4, 5), (4,), (4,)
    x, w, b = (torch.from_numpy(numbers(*s, seed=i)).requires_grad_() for i, s in enumerate(shapes))
    norms = (
        lambda x, w, b: nn.batch_norm(x, None, None, w, b, True),
        lambda x, w, b: nn.group_norm(x, 2, w, b),
        lambda x, w, b: nn.layer_norm(x.transpose(1, 2), (4,), w, b),
    )
    for norm in norms:
        assert torch.autograd.gradgradcheck(norm, (x, w, b))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dim", [None, 0, -1, (0, 1), (1, 2), (-1, 0), 1, (0, 1, 2)])
@pytest.mark.parametrize("shape", [(30, 40, 300), (3, 5, 20_011), (20_000, 3, 2)])
@pytest.mark.parametrize("keepdim", [False, True])
def test_sums(shape, dim, keepdim, dtype):
    ours, theirs = both(numbers(*shape), dtype)
    for name in ("sum", "mean"):
        made = getattr(torch, name)(ours, dim, keepdim)
        wanted = getattr(oracle, name)(theirs, dim, keepdim)
        agree(made, wanted, rtol=1e-5, atol=3e-4 if dtype == "float32" else 1e-9)


def test_sums_of_what_is_not_finite():
    x = numbers(50, 1000)
    x[2, 3], x[7, 1], x[8, 1], x[8, 2] = np.nan, np.inf, np.inf, -np.inf
    ours, theirs = both(x)
    for dim in (None, 0, 1):
        agree(torch.sum(ours, dim), oracle.sum(theirs, dim), rtol=1e-5, atol=1e-4)


def test_a_long_sum_is_exact_to_single_precision():
    x = torch.full((4_000_001,), 0.1)
    assert abs(x.sum().item() - 400_000.1) < 0.2
    assert torch.ones(20_000_000).sum().item() == 16_777_216 + 3_222_784


@DTYPES
@pytest.mark.parametrize(("shape", "dim"), [((50, 900), 0), ((50, 900), 1), ((5, 30, 300), 1)])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_totals(name, shape, dim, dtype):
    ours, theirs = both(1 + numbers(*shape, scale=0.01), dtype)
    agree(getattr(ours, name)(dim), getattr(theirs, name)(dim), **CLOSE[dtype])


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int64", "complex64"])
def test_index_add_of_rows(dtype):
    rng = np.random.default_rng(0)
    source = rng.integers(-9, 9, (5000, 16)).astype("float64")
    at = rng.integers(0, 300, 5000)
    start = rng.integers(-9, 9, (300, 16)).astype("float64")
    made = torch.from_numpy(start).to(getattr(torch, dtype))
    made = made.index_add(0, torch.from_numpy(at), torch.from_numpy(source).to(made.dtype), alpha=2)
    np.add.at(start, at, 2 * source)
    limit = 256 if dtype == "bfloat16" else 1e6  # beyond, not all integers have a number
    seen = made.to(torch.complex128 if dtype == "complex64" else torch.float64).numpy()
    assert np.array_equal(seen[abs(start) < limit], start[abs(start) < limit])


def test_index_add_refuses_positions_out_of_range():
    at = torch.tensor([0, 5000] * 1000)
    with pytest.raises(IndexError, match="5000 is out of bounds"):
        torch.zeros(10, 64).index_add(0, at, torch.ones(2000, 64))


@pytest.mark.parametrize("padding", [None, 3])
@pytest.mark.parametrize("by_frequency", [False, True])
def test_gradient_of_an_embedding(padding, by_frequency):
    words = np.random.default_rng(0).integers(0, 90, (30, 100))
    table, other = both(numbers(100, 32), requires_grad=True)
    options = {"padding_idx": padding, "scale_grad_by_freq": by_frequency}
    ours = nn.embedding(torch.from_numpy(words), table, **options)
    theirs = oracle_nn.embedding(oracle.from_numpy(words), other, **options)
    g, h = both(numbers(30, 100, 32, seed=1))
    ours.backward(g)
    theirs.backward(h)
    agree(table.grad, other.grad, rtol=1e-5, atol=1e-5)


def integers(low, high, *shape, dtype="int64"):
    return np.random.default_rng(0).integers(low, high, shape, dtype=dtype)


SORTED = {
    "int64, few values": integers(0, 30, 3, 2000) << 50,
    "int64, all bits": integers(-(1 << 63), (1 << 63) - 1, 3, 2000),
    "int64, 42 bits": integers(-(1 << 41), 1 << 41, 3, 2000) - (1 << 62),
    "float64": numbers(3, 2000),
    "float64, few values": np.round(numbers(3, 2000), 1),
}
SORTED["float64, few values"][0, ::7] = np.nan
SORTED["float64, few values"][1, ::3] = -0.0
SORTED["float64, few values"][2, ::9] = -np.inf


@pytest.mark.parametrize("name", SORTED)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
def test_equal_elements_keep_their_order(name, descending, dim):
    a = SORTED[name] if dim else np.ascontiguousarray(SORTED[name].T)
    ours = torch.from_numpy(a).sort(dim=dim, descending=descending, stable=True)
    theirs = oracle.from_numpy(a.copy()).sort(dim=dim, descending=descending, stable=True)
    for made, wanted in zip(ours, theirs, strict=True):
        assert np.array_equal(made.numpy(), wanted.numpy(), equal_nan=a.dtype.kind == "f")


@DTYPES
@pytest.mark.parametrize("mode", ["reflect", "replicate"])
@pytest.mark.parametrize("padding", [(3, 2), (0, 4, 1, 0), (3, 3, 3, 3), (-2, 3, 1, -1)])
def test_padding_by_own_elements(mode, padding, dtype):
    def padded(t, nn, x):
        return nn.pad(x if len(padding) > 2 else x[0], padding, mode)

    compare(padded, [numbers(4, 5, 13, 14)], dtype)


@DTYPES
@pytest.mark.parametrize("options", [{"scale_factor": 3.0}, {"size": (20, 14)}, {"size": (30, 11)}])
def test_repeated_pixels_add_their_gradients(options, dtype):
    compare(lambda t, nn, x: nn.interpolate(x, **options), [numbers(6, 7, 10, 7)], dtype)


@DTYPES
def test_pooling(dtype):
    x = numbers(6, 7, 20, 21)
    compare(lambda t, nn, x: nn.max_pool2d(x, 3, 2, 1), [x], dtype)
    compare(lambda t, nn, x: nn.adaptive_avg_pool2d(x, 1), [x], dtype)
    compare(lambda t, nn, x: nn.adaptive_avg_pool2d(x[0], (1, 1)), [x], dtype)


THREADED = {
    "softmax": lambda x: torch.softmax(x, -1),
    "log_softmax": lambda x: torch.log_softmax(x, 0),
    "layer_norm": lambda x: nn.layer_norm(x, x.shape[1:]),
    "group_norm": lambda x: nn.group_norm(x[:, :, None], 10),
    "batch_norm": lambda x: nn.batch_norm(x, None, None, training=True),
    "sum": torch.sum,
    "sum of rows": lambda x: x.sum(1),
    "sum over rows": lambda x: x.sum(0),
}


@pytest.mark.parametrize("name", THREADED)
def test_the_number_of_threads_changes_no_bit(name):
    x = torch.from_numpy(numbers(1000, 1000).astype("float32"))
    before = torch.get_num_threads()
    found = []
    try:
        for count in (1, 4):
            torch.set_num_threads(count)
            found.append(THREADED[name](x).numpy())
    finally:
        torch.set_num_threads(before)
    assert np.array_equal(*found)


@pytest.mark.parametrize("dim", [-1, 0])
@pytest.mark.parametrize("scale", [0.1, 1, 20])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_is_no_further_from_the_exact_result_than_pytorchs(name, scale, dim):
    given = (numbers(600, 400) * scale).astype("float32")
    exact = getattr(oracle, name)(oracle.from_numpy(given).double(), dim).numpy()
    unit = np.abs(exact) * 2.0**-23

    def error(lib):
        found = getattr(lib, name)(lib.from_numpy(given.copy()), dim).numpy()
        return float(np.max(np.abs(found - exact) / (unit + 1e-37)))

    assert error(torch) <= 1.1 * error(oracle) + 1
