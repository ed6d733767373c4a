"""Half precision, which NumPy computes one element after the other, by kernels: its bits, and PyTorch's."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_cpu.arrays import recast, recast_into
from mindtorch_cpu.bound_calls import CALLS
from mindtorch_cpu.native.kernels import KERNELS

HALVES = [torch.float16, torch.bfloat16]
HARD = [
    0.0,
    -0.0,
    float("nan"),
    float("inf"),
    -float("inf"),
    6e-8,
    3e-8,
    65504.0,
    65519.0,
    65520.0,
    1e-40,
]


def numbers(*shape, seed=0):
    drawn = np.random.default_rng(seed).normal(0, 3, shape).astype(np.float32)
    drawn.reshape(-1)[: len(HARD)] = HARD
    return drawn


@pytest.fixture
def now(monkeypatch):
    """Kernels are made when they are first asked for; gives a switch that turns them off."""
    torch.zeros(1)
    monkeypatch.setattr(KERNELS, "mode", "now")
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    CALLS.clear()
    yield lambda: monkeypatch.setattr(KERNELS, "mode", "off")
    assert KERNELS.broken is None


def in_place(change):
    def run(m, f, x, y):
        x = x.clone()
        change(x, y)
        return x

    return run


CASES = {
    "float": lambda m, f, x, y: x.float(),
    "half": lambda m, f, x, y: x.float().to(x.dtype),
    "add": lambda m, f, x, y: x + y,
    "add a number": lambda m, f, x, y: x + 1.5,
    "subtract from a number": lambda m, f, x, y: 1.5 - x,
    "multiply": lambda m, f, x, y: x * y,
    "multiply by a number": lambda m, f, x, y: x * 0.3,
    "add some": lambda m, f, x, y: m.add(x, y, alpha=0.3),
    "divide": lambda m, f, x, y: x / y,
    "neg": lambda m, f, x, y: -x,
    "relu": lambda m, f, x, y: f.relu(x),
    "sqrt": lambda m, f, x, y: x.sqrt(),
    "floor": lambda m, f, x, y: x.floor(),
    "ceil": lambda m, f, x, y: x.ceil(),
    "trunc": lambda m, f, x, y: x.trunc(),
    "round": lambda m, f, x, y: x.round(),
    "less": lambda m, f, x, y: x < y,
    "maximum": lambda m, f, x, y: m.maximum(x, y),
    "clamp": lambda m, f, x, y: x.clamp(-0.5, 0.5),
    "amax": lambda m, f, x, y: x[1:].amax(),
    "max": lambda m, f, x, y: x[1:].max(-1).values,
    "argmax": lambda m, f, x, y: x[1:].argmax(0),
    "add_": in_place(lambda x, y: x.add_(y)),
    "mul_ itself": in_place(lambda x, y: x.mul_(x)),
    "div_ rows": in_place(lambda x, y: x.div_(y[1])),
    "mul_ a number": in_place(lambda x, y: x.mul_(0.3)),
    "sub_ columns": in_place(lambda x, y: x[:, 10:].sub_(y[:, 10:])),
    "add_ what lies between": in_place(lambda x, y: x[:, ::2].add_(x[:, 1::2])),
}  # fmt: skip


@pytest.mark.parametrize("d", HALVES)
@pytest.mark.parametrize("name", CASES)
def test_pytorchs_numbers_and_numpys_bits(now, name, d):
    theirs = pytest.importorskip("torch")
    given = numbers(256, 256), numbers(256, 256, seed=1)
    made = []
    for _ in range(2):  # with kernels, and without
        x, y = (torch.from_numpy(g).to(d) for g in given)
        made.append(CASES[name](torch, F, x, y))
        now()
    one, other = (t.double().numpy() for t in made)
    assert one.tobytes() == other.tobytes()
    x, y = (theirs.from_numpy(g).to(getattr(theirs, d.name)) for g in given)
    wanted = CASES[name](theirs, theirs.nn.functional, x, y)
    assert str(wanted.dtype) == str(made[0].dtype)
    np.testing.assert_array_equal(one, wanted.double().numpy())


@pytest.mark.parametrize("d", HALVES)
@pytest.mark.parametrize(
    "name", ["exp", "expm1", "log", "log1p", "tanh", "sin", "atan", "acosh", "sigmoid", "rsqrt"]
)
def test_functions_are_computed_in_single_and_rounded(now, d, name):
    theirs = pytest.importorskip("torch")
    given = numbers(256, 256)
    x, y = (m.from_numpy(given).to(getattr(m, d.name)) for m in (torch, theirs))
    made = [getattr(x, name)(), getattr(x[:9], name)()]
    now()
    made += [getattr(x, name)(), getattr(x.t(), name)().t()]
    for each in made:
        assert torch.equal(each.nan_to_num(7), made[0][: len(each)].nan_to_num(7))
    wanted = getattr(y, name)().double()
    # A float32 between two halves may be rounded to either.
    np.testing.assert_allclose(made[0].double().numpy(), wanted, rtol=torch.finfo(d).eps, atol=1e-7)


@pytest.mark.parametrize("d", HALVES)
def test_kernels_serve_them(now, d):
    x = torch.from_numpy(numbers(256, 256)).to(d)
    before = len(CALLS)
    for function in (
        lambda: x + x,
        lambda: -x,
        lambda: x.mul_(x),
        lambda: x * 0.3,
        lambda: x.tanh(),
        lambda: x.float(),
    ):
        function()
        assert len(CALLS) == before + 1, function
        before = len(CALLS)


@pytest.mark.parametrize("d", HALVES)
@pytest.mark.parametrize("turned", [(), (1, 0, 2), (0, 2, 1), (2, 1, 0)])
def test_conversions_keep_the_order_of_dimensions(now, d, turned):
    x = torch.from_numpy(numbers(20, 30, 40)).to(d)
    x = (x.permute(turned) if turned else x[:, 3:, 2:]).raw_data
    for target in (np.float32, np.float64, np.int32, np.bool_):
        made = recast(x, target)
        with np.errstate(all="ignore"):
            wanted = x.astype(target)
        assert made.dtype == wanted.dtype
        assert made.strides == wanted.strides
        np.testing.assert_array_equal(made, wanted)
        part = np.zeros((*x.shape[:-1], 50), target)
        recast_into(x, part[..., 5 : 5 + x.shape[-1]])
        np.testing.assert_array_equal(part[..., 5 : 5 + x.shape[-1]], wanted)
        assert not part[..., :5].any()


@pytest.mark.parametrize("d", HALVES)
@pytest.mark.parametrize(
    "shapes", [((300, 200), (200, 150)), ((9, 70, 80), (9, 80, 90)), ((9, 70, 80), (80, 90)),
               ((2, 3, 70, 80), (3, 80, 90)), ((12, 300), (300, 400))],
)  # fmt: skip
@pytest.mark.parametrize("turned", [False, True])
def test_products_are_rounded_once(now, d, shapes, turned):
    drawn = [np.random.default_rng(i).normal(0, 1, s) for i, s in enumerate(shapes)]
    x, y = (torch.from_numpy(g).to(d) for g in drawn)
    if turned:
        y = y.transpose(-1, -2).contiguous().transpose(-1, -2)
    exact = np.matmul(x.double().numpy(), y.double().numpy())
    made = (x @ y).double().numpy()
    assert (np.abs(made - exact) <= np.abs(exact) * torch.finfo(d).eps / 2 * 1.01 + 1e-4).all()
