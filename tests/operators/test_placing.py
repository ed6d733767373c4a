"""Where elements go: cases that PyTorch's samples do not have, with PyTorch as witness."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry

oracle = pytest.importorskip("torch")
RNG = np.random.default_rng(5)


def both(call, *arrays):
    """What a call gives with both libraries, as arrays."""
    found = [call(lib, *[lib.from_numpy(a.copy()) for a in arrays]) for lib in (oracle, torch)]
    return [t.numpy() for t in found]


def agree(call, *arrays, rtol=1e-5):
    expected, actual = both(call, *arrays)
    assert actual.dtype == expected.dtype
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol * 10)


@pytest.fixture(params=[np.float32, np.float16, np.int64, np.complex64], ids=lambda d: d.__name__)
def numbers(request):
    """Makes random numbers of a dtype; halves are small integers, so that sums are exact."""
    whole = request.param in (np.float16, np.int64)

    def make(*shape):
        found = RNG.integers(-2, 3, shape) if whole else RNG.standard_normal(shape)
        return found.astype(request.param)

    return make


def test_many_elements_added_at_repeated_positions(numbers):
    place = RNG.integers(-50, 50, 3000)
    agree(
        lambda lib, x, i, v: x.index_put((i,), v, accumulate=True),
        numbers(50, 20), place, numbers(3000, 20), rtol=1e-4,
    )  # fmt: skip
    agree(
        lambda lib, x, i, v: x.index_add(1, i % 20, v, alpha=2),
        numbers(50, 20), place, numbers(50, 3000), rtol=1e-4,
    )  # fmt: skip
    index = RNG.integers(0, 9, (40, 30))
    agree(
        lambda lib, x, i, v: x.scatter_add(0, i, v),
        numbers(9, 30), index, numbers(45, 30), rtol=1e-4,
    )  # fmt: skip


@pytest.mark.parametrize("where", [(0, None, 1), (0, 1), (None, 0, 1), (None, None, 1)])
@pytest.mark.parametrize("transposed", [False, True])
def test_index_put_adds_wherever_the_index_tensors_stand(where, transposed):
    x = RNG.standard_normal((6, 6, 6, 9)).astype(np.float32)
    indices = RNG.integers(-6, 6, (5, 20)), RNG.integers(0, 6, 20)
    at = tuple(slice(None) if w is None else indices[w] for w in where)
    values = RNG.standard_normal(x[at].shape).astype(np.float32)

    def call(lib, x, v, *tensors):
        if transposed:
            x = x.transpose(0, 2).clone().transpose(0, 2)
        found = [None if w is None else tensors[w] for w in where]
        return lib.ops.aten.index_put_.default(x, found, v, True)

    agree(call, x, values, *indices)


@pytest.mark.parametrize("dim", [0, 1])
def test_large_gather_and_scatter_of_strided_tensors(dim):
    x, index = RNG.standard_normal((40, 50)), RNG.integers(0, 40, (30, 35))
    agree(lambda lib, x, i: x.t().contiguous().t().gather(dim, i), x, index)
    agree(lambda lib, x, i: x.clone().t().scatter_(dim, i, x.sin()), x[:40, :40].copy(), index)


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_composition_and_kernel_of_scatter_reduce_agree(reduce, include_self):
    """Devices without a kernel combine elements by sorting their positions."""
    x = torch.from_numpy(RNG.standard_normal((7, 11)))
    index = torch.from_numpy(RNG.integers(0, 7, (30, 10)))
    src = torch.from_numpy(RNG.standard_normal((31, 10)))
    composed = registry.entry("scatter_reduce.two").definition.decomposition
    found = composed(x, 0, index, src, reduce, include_self=include_self)
    torch.testing.assert_close(
        found, x.scatter_reduce(0, index, src, reduce, include_self=include_self)
    )


@pytest.mark.parametrize("name", ["gather", "scatter_add", "scatter.src", "scatter_reduce.two"])
@pytest.mark.parametrize("shapes", [((3,), (), ()), ((), (1,), (1,)), ((), (2,), (2,))])
def test_positions_without_dimensions(name, shapes):
    """A tensor without dimensions counts as a vector of one, in kernels and compositions."""
    own, index, src = shapes
    at = np.full(index, 2 if own else 0)
    arrays = [np.arange(1.0, 1 + np.prod(own, dtype=int)).reshape(own), at, np.full(src, 5.0)]
    packet, _, overload = name.partition(".")

    def call(lib, x, i, v, *, chosen=None):
        f = chosen or getattr(getattr(lib.ops.aten, packet), overload or "default")
        more = () if packet == "gather" else (v, "prod") if "reduce" in packet else (v,)
        return f(x, 0, i, *more)

    agree(call, *arrays)
    composed = registry.entry(name).definition.decomposition
    expected, _ = both(call, *arrays)
    np.testing.assert_array_equal(
        call(torch, *map(torch.from_numpy, arrays), chosen=composed).numpy(), expected
    )


def test_out_may_not_lie_where_an_input_does():
    x = torch.arange(6.0)
    index = torch.tensor([2, 1, 0])
    for call in (
        lambda: torch.gather(x, 0, index, out=x[:3]),
        lambda: torch.take(x, index, out=x),
        lambda: torch.index_select(x, 0, index, out=x[1:4]),
        lambda: torch.masked_select(x, x > 2, out=x[:3]),
        lambda: torch.cat([x, x], out=x),
    ):
        with pytest.raises(RuntimeError, match=r"single memory location.*clone"):
            call()
    torch.gather(x[3:], 0, index, out=x[:3])  # beside each other
    assert x.tolist() == [5, 4, 3, 3, 4, 5]


def test_out_of_gather_has_its_dtype():
    with pytest.raises(RuntimeError, match=r"to have dtype torch\.float32"):
        torch.gather(torch.ones(3), 0, torch.tensor([0]), out=torch.empty(1, dtype=torch.float64))


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: torch.zeros(3).index_fill(0, torch.tensor([5]), 1), IndexError, "5 is out of"),
        (lambda: torch.ones(2).index_fill(0, torch.tensor([0]), 1j), RuntimeError, "complex"),
        (lambda: torch.ones(3).repeat_interleave(torch.tensor([1, -1, 0])), RuntimeError, "negat"),
        (lambda: torch.ones(2, 2).repeat(2), RuntimeError, "1 repeats for 2 dimensions"),
        (lambda: torch.ones(2).put(torch.tensor([2]), torch.ones(1)), IndexError, "index 2 on a"),
        (lambda: torch.meshgrid(torch.ones(2), indexing="yx"), RuntimeError, "but received: yx"),
        (lambda: torch.unravel_index(torch.ones(1), (2,)), TypeError, "torch.float32"),
        (lambda: torch.zeros(2, layout="strided"), TypeError, "must be torch.layout, not str"),
        (lambda: torch.zeros(2, pin_memory=True), RuntimeError, "leave pin_memory away"),
        (lambda: torch.linspace(0, 1j, 3, dtype=torch.float32), RuntimeError, "dtype Float"),
        (
            lambda: torch.zeros(3).masked_scatter(torch.ones(3, dtype=torch.bool), torch.ones(2)),
            RuntimeError,
            "there are 2 for 3",
        ),
    ],
)
def test_errors_say_what_was_wrong(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_factories_take_options_of_memory():
    assert torch.zeros(2, layout=torch.strided, pin_memory=False).tolist() == [0, 0]
    x = torch.rand(2).new_ones(3, layout=torch.strided, requires_grad=True)
    assert x.requires_grad
    with torch.pipeline():
        y = torch.zeros_like(x, layout=torch.strided, dtype=torch.int64) + 1
    assert y.tolist() == [1, 1, 1]


def test_fill_diagonal_is_recorded():
    x = torch.ones(3, 3, requires_grad=True)
    (x * 2).fill_diagonal_(7).sum().backward()
    assert torch.equal(x.grad, 2 * (1 - torch.eye(3)))


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (1, 1)])
@pytest.mark.parametrize("rows", [3, 7])
def test_fill_diagonal_writes_elements_that_share_memory(shape, rows):
    def played(lib):
        x = lib.zeros(shape if shape[0] == 1 else (rows, 1))
        shown = x.expand(rows, 3)
        assert shown.fill_diagonal_(2, wrap=True) is shown
        return x.tolist(), shown.tolist(), shown.stride()

    assert played(torch) == played(oracle)
    with torch.pipeline():
        recorded = torch.zeros(shape).expand(3, 3).fill_diagonal_(2)
    assert recorded.tolist() == oracle.zeros(shape).expand(3, 3).fill_diagonal_(2).tolist()
