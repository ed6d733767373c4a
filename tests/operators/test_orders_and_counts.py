"""Sorting, counting, norms and masks where PyTorch's samples do not reach: NaN, ties, layouts, sizes."""

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

NAN, INF = float("nan"), float("inf")
SPECIAL = np.array([3, NAN, -1, NAN, 2, -0.0, 0.0, INF, -INF, 2], np.float32)
WIDE = np.array([2**63 - 1, -(2**63), 0, 5] * 40)


def both(call, *arrays):
    """The results of a call in PyTorch and here, as lists of arrays."""

    def flat(value):
        return [x for v in value for x in flat(v)] if isinstance(value, list | tuple) else [value]

    theirs = flat(call(pt, *[pt.from_numpy(a.copy()) for a in arrays]))
    ours = flat(call(torch, *[torch.from_numpy(a.copy()) for a in arrays]))
    return [t.numpy() for t in theirs], [t.numpy() for t in ours]


def assert_same(call, *arrays, tolerance=0.0):
    theirs, ours = both(call, *arrays)
    for a, b in zip(theirs, ours, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("how", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantiles_as_numpy_has_them(name, how):
    """At every place between two elements, and at the elements."""
    values = np.random.default_rng(0).normal(size=(3, 9))
    if name == "nanquantile":
        values[0, 2:5], values[1, 0] = NAN, NAN
    # No place is halfway: which neighbour is nearest there is left to rounding.
    for q in (0, 0.125, 0.04, 0.26, 0.49, 0.51, 0.7, 0.92, 1):
        made = getattr(torch, name)(torch.from_numpy(values), q, dim=1, interpolation=how)
        expected = getattr(np, name)(values, q, axis=1, method=how)
        np.testing.assert_allclose(made.numpy(), expected, rtol=1e-12)
    places = np.linspace(0.01, 0.98, 7)
    assert_same(
        lambda lib, x, q: getattr(lib, name)(x, q, dim=0, keepdim=True, interpolation=how),
        values, places, tolerance=1e-12,
    )  # fmt: skip


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(
    "array",
    [
        SPECIAL,
        np.tile(SPECIAL, 20),
        np.tile(SPECIAL, 20).astype(np.float64),
        np.tile(SPECIAL, 20).astype(np.float16),
        WIDE,
        np.tile(SPECIAL, (30, 8)).T,
        np.arange(400).reshape(20, 20)[::2, ::3] % 7,
        np.zeros((0, 3), np.float32),
    ],
    ids=["few", "float32", "float64", "float16", "int64", "transposed", "strided", "empty"],
)
def test_equal_elements_keep_their_order_and_nan_is_largest(array, descending):
    for dim in range(array.ndim):
        assert_same(
            lambda lib, a, dim=dim: lib.sort(a, stable=True, dim=dim, descending=descending), array
        )


@pytest.mark.parametrize("largest", [False, True])
def test_top_elements_of_many(largest):
    array = np.random.default_rng(0).permutation(7000).reshape(7, 1000).astype(np.float32)
    array[2, 5] = NAN
    assert_same(lambda lib, a: lib.topk(a, 6, 1, largest), array)


def test_positions_of_ties_point_at_their_values():
    array = np.random.default_rng(0).integers(0, 4, (6, 300))
    x = torch.from_numpy(array)
    found = {
        "mode": torch.mode(x, 1, True),
        "median": torch.median(x, 1, True),
        "kthvalue": torch.kthvalue(x, 100, 1, True),
        "topk": torch.topk(x, 5, 1),
        "cummax": torch.cummax(x, 1),
    }
    for name, (values, indices) in found.items():
        assert torch.equal(x.gather(1, indices), values), name


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "logcumsumexp"])
def test_running_totals_are_as_exact_as_pytorchs(name):
    array = (np.random.default_rng(0).random(200_000) * 2e-5 + (name == "cumprod")).astype(
        np.float32
    )
    (theirs,), (ours,) = both(lambda lib, a: getattr(lib, name)(a, 0), array)
    function = {"cumsum": np.cumsum, "cumprod": np.cumprod, "logcumsumexp": np.logaddexp.accumulate}
    exact = function[name](array.astype(np.float64))
    assert np.abs(ours - exact).max() <= np.abs(theirs - exact).max() + 1e-6 * np.abs(exact).max()


def test_products_with_zeros_have_gradients():
    for zeros in ([], [2], [1, 4], [0, 1, 2]):
        array = np.arange(1.0, 7.0)
        array[zeros] = 0

        def gradient(lib, a):
            a.requires_grad_()
            weights = lib.arange(6, dtype=lib.float64) + 1
            total = (a.cumprod(0) * weights).sum() + a.prod() * 2
            (first,) = lib.autograd.grad(total, a, create_graph=True)
            return first.detach(), lib.autograd.grad((first * first).sum(), a)[0]

        assert_same(gradient, array, tolerance=1e-12)


def test_distances_of_near_points_are_exact():
    array = np.ones((40, 3), np.float32)
    array[:, 0] += np.arange(40, dtype=np.float32) * 1e-4
    x = torch.from_numpy(array).requires_grad_()
    distances = torch.cdist(x, x)
    exact = np.abs(array[:, None, 0].astype(np.float64) - array[None, :, 0])
    np.testing.assert_allclose(distances.detach().numpy(), exact, rtol=1e-6)
    (gradient,) = torch.autograd.grad(distances.sum(), x)
    np.testing.assert_allclose(gradient.numpy()[:, 0], np.arange(-39, 40, 2) * 2.0, rtol=1e-5)


def test_distances_in_blocks_equal_those_at_once(monkeypatch):
    from mindtorch_core.operators.nn import distances

    x, y = torch.rand(9, 4, dtype=torch.float64), torch.rand(2, 5, 4, dtype=torch.float64)
    g = torch.rand(2, 9, 5, dtype=torch.float64)
    args = g, x.expand(2, 9, 4), y, 2.0, torch.cdist(x, y)
    whole = distances._cdist_forward(x, y, 3.0), torch._cdist_backward(*args)
    monkeypatch.setattr(distances, "_BLOCK", 30)
    parts = distances._cdist_forward(x, y, 3.0), torch._cdist_backward(*args)
    for one, other in zip(whole, parts, strict=True):
        assert torch.allclose(one, other)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: x.topk(9), RuntimeError, "k is 9, the dimension has 4 elements"),
        (lambda x: x.kthvalue(0), RuntimeError, "k is 0, the dimension has 4 elements"),
        (lambda x: torch.quantile(x, 1.5), RuntimeError, r"range \[0, 1\] but got 1.5"),
        (lambda x: torch.quantile(x, 0.5, interpolation="cubic"), RuntimeError, "one of linear"),
        (lambda x: torch.bincount(x), NotImplementedError, "Float"),
        (lambda x: torch.histc(x, 3, 2, 1), RuntimeError, r"got \[2, 1\]"),
        (lambda x: torch.searchsorted(x, x, side="up"), RuntimeError, "'left' or 'right' but got up"),
        (lambda x: torch.linalg.norm(x, 0.5), RuntimeError, "Order 0.5 not supported"),
        (lambda x: torch.norm(x, "max"), RuntimeError, "'fro' and 'nuc', found max"),
        (lambda x: torch.cdist(x, x[:, :2]), RuntimeError, "X1: 4 X2: 2"),
        (lambda x: torch.sort(x * 1j), RuntimeError, "have no order"),
        (lambda x: x.cumsum_(0, dtype=torch.float64), RuntimeError, "leave out dtype"),
        (lambda x: torch.masked.sum(x[0], mask=x > 0), IndexError, "2 dimensions and the input 1"),
        (lambda x: torch.unique(x[:, :0], dim=0), RuntimeError, "0 sized dimensions"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_explained(call, error, text):
    with pytest.raises(error, match=text):
        call(torch.ones(3, 4))


def test_results_that_depend_on_what_is_asked_for():
    x = torch.tensor([2, 1, 2])
    assert torch.unique(x).tolist() == [1, 2]
    values, counts = torch.unique(x, return_counts=True)
    assert (values.tolist(), counts.tolist()) == ([1, 2], [1, 2])
    values, inverse, counts = x.unique_consecutive(True, True)
    assert [t.tolist() for t in (values, inverse, counts)] == [[2, 1, 2], [0, 1, 2], [1, 1, 1]]


@pytest.mark.parametrize("shape", [(), (1,), (3, 2)])
def test_complex_numbers_are_not_told_apart(shape):
    for call in (
        lambda lib, x: x.unique(),
        lambda lib, x: lib.unique(x, sorted=False, return_counts=True),
        lambda lib, x: x.unique(dim=0),
        lambda lib, x: lib.unique_consecutive(x),
    ):
        with pytest.raises(NotImplementedError) as theirs:
            call(pt, pt.ones(shape, dtype=pt.complex64))
        with pytest.raises(NotImplementedError) as ours:
            call(torch, torch.ones(shape, dtype=torch.complex64))
        assert str(ours.value) == str(theirs.value)


def test_where_masked_results_are_defined():
    x = torch.arange(6.0).view(2, 3)
    mask = torch.tensor([[True, False, True], [False, False, False]])
    assert torch.masked.sum(x, 1, mask=mask).tolist() == [2.0, 0.0]
    assert torch.masked._output_mask(torch.masked.sum, x, 1, mask=mask).tolist() == [True, False]
    assert (
        torch.masked._output_mask(torch.masked.softmax, x, 1, mask=mask[:1]).tolist()
        == [[True, False, True]] * 2
    )


def test_a_pipeline_defers_orders_and_norms():
    x = torch.rand(4, 6)
    eager = (
        torch.sort(x, 1)[0],
        torch.linalg.vector_norm(x, 3, 0),
        x.cumsum(1),
        torch.median(x, 1)[0],
    )
    with torch.pipeline():
        later = (
            torch.sort(x, 1)[0],
            torch.linalg.vector_norm(x, 3, 0),
            x.cumsum(1),
            torch.median(x, 1)[0],
        )
        assert all(t._pending for t in later)
    for one, other in zip(eager, later, strict=True):
        assert torch.allclose(one, other)


@pytest.mark.parametrize("call", [
    "histogram(t.arange(5), 3)", "histogram(t.ones(3, dtype=t.complex64), 2)", "histogram(t.ones(3), 0)",
    "histogram(t.ones(3), 3, weight=t.ones(3).double())", "histogram(t.ones(3), 3, weight=t.ones(2))",
    "histogram(t.ones(3), 3, range=(2.0, 1.0))", "histogram(t.ones(3), 3, range=(1.0, float('inf')))",
    "histogram(t.ones(3), t.ones(2).double())", "histogram(t.ones(3), t.ones(2, 2))",
    "histogramdd(t.ones(3, 2).long(), [2, 2])", "histogramdd(t.ones(3, 2), [2])",
    "histogramdd(t.ones(3), [2])", "histogramdd(t.ones(3, 2), [2, 2], weight=t.ones(2))",
])  # fmt: skip
def test_histograms_refuse_what_pytorch_refuses(call):
    kinds = []
    for lib in (torch, pt):
        with pytest.raises(RuntimeError) as refusal:
            eval(f"t.{call}", {"t": lib})
        kinds.append(refusal.type.__name__)
    assert kinds[0] == kinds[1]


def test_bins_of_whole_numbers_are_counted_exactly():
    """PyTorch counts them on GPUs alone: positions are those of the integers, not of their floats."""
    far = 2**62
    for numbers, bins, low, high in (
        ([1, 2, 1, 0, 5, 2], 4, 0, 0),
        ([3, 3], 3, 0, 0),
        ([far, far + 1, far + 7, far + 3], 7, far, far + 7),
        ([far, far + 1, far + 7, far + 3], 7, 0, 0),
        ([-(2**63), 2**63 - 1, 0, 5], 4, 0, 0),
        ([-5, 0, 7, 9], 3, -2, 7),
    ):
        expected = [0] * bins
        least, most = (low, high) if low != high else (min(numbers), max(numbers))
        least, most = (least - 1, most + 1) if least == most else (least, most)
        for x in numbers:
            if least <= x <= most:
                expected[min((x - least) * bins // (most - least), bins - 1)] += 1
        found = torch.histc(torch.tensor(numbers), bins, low, high)
        assert found.tolist() == expected
        assert found.dtype is torch.int64


def test_histograms_of_points_without_coordinates():
    for density in (False, True):
        found, edges = torch.histogramdd(torch.ones(3, 0), bins=[], density=density)
        expected, _ = pt.histogramdd(pt.ones(3, 0), bins=[], density=density)
        np.testing.assert_equal(found.numpy(), expected.numpy())
        assert edges == ()


def test_histograms_say_first_that_bins_are_of_another_dtype():
    for lib in (torch, pt):
        with pytest.raises(RuntimeError, match="bins tensors should have the same dtype"):
            lib.histogram(lib.ones(2), lib.ones(1, 1, dtype=lib.float64))


def test_tensors_of_more_dimensions_than_arrays_have_are_refused():
    for lib in (torch, pt):
        with pytest.raises(RuntimeError, match="only tensors with up to 64 dims are supported"):
            lib.ones([1] * 65).sum(0)
