"""Arithmetic of arrays that are broadcast or lie anyhow: kernels give NumPy's bits, and PyTorch's layout."""

import itertools

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.arrays import NUMPY_OF
from mindtorch_cpu.broadcasting import in_place, of_floats
from mindtorch_cpu.native.kernels import KERNELS

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
UFUNCS = (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.less, np.equal)
ODD = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-7, 6e4, -1.0)

# How two operands of about 6,000 elements lie: what is made of two row-major arrays of these shapes.
PAIRS = {
    "rows": lambda a: (a(48, 128), a(128)),
    "columns": lambda a: (a(48, 128), a(48, 1)),
    "both": lambda a: (a(48, 1), a(1, 128)),
    "small first": lambda a: (a(128), a(48, 128)),
    "number first": lambda a: (a(), a(48, 128)),
    "transposed": lambda a: (a(128, 48).T, a(128, 48).T),
    "one transposed": lambda a: (a(128, 48).T, a(48, 128)),
    "every second": lambda a: (a(48, 256)[:, ::2], a(96, 128)[::2]),
    "backwards": lambda a: (a(48, 128)[::-1, ::-1], a(128)[::-1]),
    "heads": lambda a: (a(4, 24, 8, 8).transpose(0, 2, 1, 3), a(1, 1, 24, 8)),
    "channels": lambda a: (a(2, 8, 24, 16), a(1, 8, 1, 1)),
    "channels last": lambda a: (a(2, 24, 16, 8).transpose(0, 3, 1, 2), a(1, 8, 1, 1)),
    "short rows": lambda a: (a(2100, 3), a(3)),
    "one row, many": lambda a: (a(1, 5000), a(2, 1)),
}


def arrays(d, seed):
    """Makes arrays of a dtype, some of whose elements are odd."""
    rng = np.random.default_rng(seed)

    def make(*shape):
        x = rng.standard_normal(shape)
        flat = np.where(rng.random(shape) < 0.05, rng.choice(ODD, shape), x)
        with np.errstate(all="ignore"):
            return np.asarray(flat).astype(NUMPY_OF[d])

    return make


def same(found, wanted):
    """Asserts that arrays have the same bits; any NaN is as good as another."""
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    nan = wanted != wanted
    assert np.array_equal(found != found, nan)
    word = f"u{found.itemsize}"
    bits = [np.ascontiguousarray(x).view(word).reshape(x.shape)[~nan] for x in (found, wanted)]
    assert np.array_equal(*bits)


@pytest.mark.parametrize("d", FLOATS, ids=str)
@pytest.mark.parametrize("how", PAIRS)
def test_results_have_numpys_bits(by_kernels, how, d):
    if not KERNELS.usable:
        pytest.skip(KERNELS.reason)
    for n, ufunc in enumerate(UFUNCS):
        a, b = PAIRS[how](arrays(d, n))
        with np.errstate(all="ignore"):
            wanted = ufunc(a, b)
            if ufunc in (np.maximum, np.minimum):  # of equals that are told apart either may come
                a, b = (np.where(x == 0, x.dtype.type(0), x) for x in (a, b))
                wanted = ufunc(a, b)
        found = of_floats(ufunc, wanted.dtype, a, b)
        assert found is not None, (how, ufunc)
        same(found, wanted)


@pytest.mark.parametrize("d", FLOATS, ids=str)
@pytest.mark.parametrize("how", ["rows", "columns", "one transposed", "heads", "short rows"])
def test_written_ones_have_numpys_bits(by_kernels, how, d):
    if not KERNELS.usable:
        pytest.skip(KERNELS.reason)
    for n, ufunc in enumerate(UFUNCS[:4]):
        a, b = PAIRS[how](arrays(d, n))
        wanted = a.copy("K")
        with np.errstate(all="ignore"):
            ufunc(wanted, b, wanted)
        assert in_place(ufunc, a, b), (how, ufunc)
        same(a, wanted)


def test_what_overlaps_what_is_written_is_left_to_numpy(by_kernels):
    for d in FLOATS:
        x = arrays(d, 0)(65, 128)
        before = x.copy()
        assert not in_place(np.add, x[1:], x[:-1])
        assert np.array_equal(x, before, equal_nan=True)


def test_layouts_are_pytorchs(by_kernels):
    pytorch = pytest.importorskip("torch")

    def made(lib, d):
        kind = getattr(lib, d)
        x = lib.arange(2 * 24 * 8 * 16).reshape(2, 24, 8, 16).to(kind)
        heads, last = x.transpose(1, 2), x.to(memory_format=lib.channels_last)
        row, line = x[0, 0, 0], x[:, :1, :, :1]
        for a, b in itertools.permutations((x, heads.transpose(1, 2), last, row, line), 2):
            yield (a + b).stride(), (a * b).tolist()[0][0][0]
        for a in (heads, last, heads[..., 4:], x[..., ::2], x.permute(3, 1, 0, 2)):
            yield (-a).stride(), (a * 0.5).stride(), (1 - a).stride(), (a**2).stride()
            yield (
                lib.cat((a, -a), -1).stride(),
                lib.cat((a, a), 1).stride(),
                lib.cat((a, a)).tolist(),
            )

    for d in ("float16", "bfloat16", "float32"):
        for mine, theirs in zip(made(torch, d), made(pytorch, d), strict=True):
            assert mine == theirs


@pytest.mark.parametrize("d", ["float16", "bfloat16", "float32", "float64", "int64", "uint8"])
def test_numbers_that_are_subtracted_from(by_kernels, d):
    pytorch = pytest.importorskip("torch")
    for n in (0, 1, 5, 5000, 70_000):
        for number in (0, 1, -1, 2.5):
            for alpha in (1, 2):
                found, wanted = (
                    lib.rsub((lib.arange(n) % 100).to(getattr(lib, d)), number, alpha=alpha)
                    for lib in (torch, pytorch)
                )
                assert str(found.dtype) == str(wanted.dtype)
                assert found.tolist() == wanted.tolist()
    x = torch.ones(3, requires_grad=True)
    y = 1 - x
    y.sum().backward()
    assert y.grad_fn.name() == "RsubBackward1"
    assert x.grad.tolist() == [-1.0, -1.0, -1.0]
    for bad in (torch.tensor([True]), torch.ones(2)):
        with pytest.raises(RuntimeError, match="bool"):
            True - bad


@pytest.mark.parametrize("d", ["float32", "bfloat16", "bool", "complex64", "int64"])
def test_places_of_many_elements(d):
    pytorch = pytest.importorskip("torch")
    for shape in ((9000,), (100, 100), (9, 20, 50), (3, 0, 70), (100, 100, 1), (2, 3, 4, 5, 60)):
        x = torch.randn(shape).relu().mul(9).to(getattr(torch, d))
        wanted = pytorch.tensor(x.tolist()).reshape(shape).nonzero()
        for t in (x, x.transpose(0, -1).contiguous().transpose(0, -1)):
            found = t.nonzero()
            assert found.tolist() == wanted.tolist()
            assert not x.numel() or found.stride() == wanted.stride()


def test_functions_of_what_lies_in_another_order_have_its_bits():
    """A transposed array is one in memory: what is computed of it are the same numbers."""
    x = torch.randn(300, 200)
    of = torch.nn.functional
    for f in (of.silu, of.gelu, of.elu, of.softplus, torch.sigmoid, torch.tanh, of.hardswish):
        for d in (torch.float32, torch.bfloat16):
            for _ in range(25):  # without kernels, and with them
                wanted = f(x.to(d))
            for _ in range(25):
                found = f(x.to(d).t())
            assert found.stride() == (1, 200)
            assert found.t().equal(wanted)


@pytest.mark.parametrize("d", FLOATS, ids=str)
def test_copies_and_fills(d):
    x = torch.from_numpy(np.asarray(arrays(torch.float32, 0)(70, 90))).to(d)
    for lies in (lambda t: t, lambda t: t.t(), lambda t: t[:, ::2], lambda t: t[1]):
        room = lies(torch.zeros(70, 90, dtype=d))
        room.copy_(lies(x))
        same(room.double().numpy(), lies(x).double().numpy())
        assert room.fill_(-2.5).eq(-2.5).all()
        assert not room.zero_().any()
        other = lies(x).to(torch.float64 if d is torch.float32 else torch.float32)
        same(other.to(torch.float64).numpy(), lies(x).double().numpy())
        assert other.stride() == lies(torch.zeros(70, 90)).clone().stride()


VIEWS = (
    lambda x: x,
    lambda x: x[::2],
    lambda x: x.t(),
    lambda x: x[..., ::3],
)
RANGES = (
    (0, 1), (0.0, 0.0), (-1, 1), (1, -1), (float("nan"), 1), (0, float("inf")), (-0.0, 0.0), (None, 0.5), (True, 2),
)  # fmt: skip


@pytest.mark.parametrize("rows", [6, 140])
@pytest.mark.parametrize("d", ["float32", "float64"])
@pytest.mark.parametrize("limits", RANGES, ids=str)
def test_limits(by_kernels, limits, d, rows):
    pytorch = pytest.importorskip("torch")
    drawn = np.random.default_rng(0).standard_normal((rows, 150))
    drawn[0, :4] = 0.0, -0.0, np.nan, np.inf
    for view in VIEWS:
        found = []
        for lib in (torch, pytorch):
            x = lib.tensor(drawn.tolist(), dtype=getattr(lib, d))
            v = view(x)
            made = v.clamp(*limits)
            assert v.clamp_(*limits) is v
            found.append((repr(made.tolist()), made.stride(), repr(x.tolist())))
        assert found[0] == found[1]


@pytest.mark.parametrize("others", ["float64", "int64", "bool", "bfloat16"])
def test_many_elements_of_two_dtypes_one_after_another(others):
    pytorch = pytest.importorskip("torch")
    for turned in (False, True):
        made = []
        for lib in (torch, pytorch):
            x = lib.arange(6000.0).reshape(60, 100)
            y = (lib.arange(6000).reshape(60, 100) % 3).to(getattr(lib, others))
            made += [lib.cat((y, x) if turned else (x, y), 1)]
        assert str(made[0].dtype) == str(made[1].dtype)
        assert made[0].tolist() == made[1].tolist()


def test_dimensions_of_size_1_lie_as_they_did(by_kernels):
    pytorch = pytest.importorskip("torch")

    def strides(lib):
        for shape, order in (((1, 64, 80), (1, 2, 0)), ((40, 1, 90, 2), (3, 1, 0, 2))):
            x = lib.ones(shape).permute(order)
            for name in ("silu", "gelu", "elu", "hardswish", "softplus"):
                yield getattr(lib.nn.functional, name)(x).stride()

    assert [*strides(torch)] == [*strides(pytorch)]
