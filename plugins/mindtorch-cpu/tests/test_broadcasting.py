"""Large operands of which one is broadcast, and functions of three: NumPy's bits, whichever way is taken."""

import contextlib

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.broadcasting import in_long_runs
from mindtorch_cpu.ops import pointwise

SHAPES = [
    ((20_000, 3), (3,)),
    ((20_001, 3), (1, 3)),
    ((3,), (20_000, 3)),
    ((700, 200), (200,)),
    ((100, 2000), (2000,)),
    ((900, 300), (900, 1)),
    ((2, 3, 90, 90), (3, 1, 1)),
    ((3, 1, 1), (2, 3, 90, 90)),
    ((1, 40, 300), (30, 1, 300)),
    ((300, 1), (1, 300)),
    ((1, 1, 50_000), (1, 1)),
    ((5, 1, 200, 1, 300), (200, 4, 300)),
    ((20_000, 3), ()),
]
UFUNCS = [np.add, np.subtract, np.divide, np.multiply, np.less, np.equal]
OPS = {
    np.add: torch.add, np.subtract: torch.sub, np.multiply: torch.mul, np.divide: torch.div,
    np.less: torch.lt, np.equal: torch.eq,
}  # fmt: skip


pytestmark = pytest.mark.usefixtures("by_kernels")


def numbers(shape, code, seed):
    drawn = np.random.default_rng(seed).normal(0, 9, shape)
    return np.asarray(drawn.round(1)).astype(code)


@pytest.mark.parametrize("code", ["f4", "f8", "i4"])
@pytest.mark.parametrize(("left", "right"), SHAPES, ids=str)
def test_results_are_numpys(left, right, code):
    a, b = numbers(left, code, 0), numbers(right, code, 1)
    views = [(a, b), (a[::-1], b), (np.asfortranarray(a), b), (a, b[..., :1] if b.ndim else b)]
    if b.ndim:
        views.append((a, np.concatenate([b, b], -1)[..., ::2]))
    for x, y in views:
        for ufunc in UFUNCS:
            if ufunc is np.divide and code[0] == "i":
                continue
            with np.errstate(all="ignore"):
                wanted = ufunc(x, y)
            found = OPS[ufunc](
                torch.from_numpy(x.copy(order="K")), torch.from_numpy(y.copy(order="K"))
            )
            assert found.numpy().tobytes() == wanted.tobytes()
            made = in_long_runs(ufunc, wanted.dtype, x, y)
            assert made is None or made.tobytes() == wanted.tobytes()


def test_the_ways_are_taken():
    for left, right in SHAPES:
        a, b = numbers(left, "f4", 0), numbers(right, "f4", 1)
        assert in_long_runs(np.add, a.dtype, a, b) is not None, (left, right)
    narrow = numbers((20_000, 3), "f4", 0), numbers((20_000, 1), "f4", 1)
    assert in_long_runs(np.add, narrow[0].dtype, *narrow) is None


@pytest.mark.parametrize("shape", [(20_000, 3), (300, 200), (2, 3, 90, 90)])
def test_in_place(shape):
    a = numbers(shape, "f4", 0)
    for part in (np.s_[0], np.s_[-1], np.s_[:1], np.s_[..., :1]):
        x = torch.from_numpy(a.copy())
        with contextlib.suppress(RuntimeError):  # whose memory clearly overlaps
            x += x[part]
            assert x.numpy().tobytes() == (a + a[part]).tobytes()
            continue
        x += x[part].clone()
        assert x.numpy().tobytes() == (a + a[part]).tobytes()


def test_shapes_that_do_not_broadcast_are_told():
    with pytest.raises(
        RuntimeError, match=r"size of tensor a \(3\) must match the size of tensor b \(4\)"
    ):
        torch.ones(20_000, 3) + torch.ones(4)
    with pytest.raises(RuntimeError, match="broadcast"):
        torch.ones(20_000, 1).mul_(torch.ones(3))


@pytest.mark.parametrize("code", ["f4", "f8"])
@pytest.mark.parametrize("size", [1, 5000, 70_000])
def test_functions_of_three(size, code):
    a, b, c = (numbers(size, code, seed) for seed in range(3))
    kind = a.dtype.type
    x, y, z = map(torch.from_numpy, (a, b, c))
    with np.errstate(all="ignore"):
        cases = [
            (torch.addcmul(x, y, z), a + b * c),
            (torch.addcmul(x, y, z, value=0.3), a + b * kind(0.3) * c),
            (torch.addcdiv(x, y, z, value=-2), a + b * kind(-2) / c),
            (torch.lerp(x, y, 0.3), a + (b - a) * kind(0.3)),
            (torch.lerp(x, y, 0.5), b - (b - a) * kind(0.5)),
            (torch.lerp(x, y, 0.7), b - (b - a) * kind(1 - 0.7)),
            (torch.clamp(x, -1, 2.5), np.minimum(kind(2.5), np.maximum(kind(-1), a))),
            (torch.relu(x), np.where(a < 0, kind(0), a)),
        ]
    for _ in range(20):  # the later ones by kernels
        for i, (found, wanted) in enumerate(cases):
            assert found.numpy().tobytes() == wanted.tobytes(), i
        cases[6] = torch.clamp(x, -1, 2.5), cases[6][1]
        cases[3] = torch.lerp(x, y, 0.3), cases[3][1]
        cases[1] = torch.addcmul(x, y, z, value=0.3), cases[1][1]
        cases[7] = torch.relu(x), cases[7][1]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_few_elements_make_many(dtype):
    """A column and a row have few; what they give together is computed as many are."""
    a, b = numbers((300,), "f4", 0), numbers((290,), "f4", 1)
    x, y = torch.from_numpy(a).to(dtype), torch.from_numpy(b).to(dtype)
    for ufunc, op in OPS.items():
        with np.errstate(all="ignore"):
            wanted = ufunc.outer(x.numpy(), y.numpy())
        for found in (op(x[:, None], y), op(x[None, :, None], y[None, None])[0]):
            assert found.shape == (300, 290)
            assert found.numpy().tobytes() == wanted.tobytes()
        turned = op(x, y[:, None])
        assert turned.is_contiguous()
    assert torch.outer(x, y).numpy().tobytes() == np.multiply.outer(x.numpy(), y.numpy()).tobytes()


def test_a_kernel_takes_pairs(monkeypatch):
    seen = []
    monkeypatch.setattr(pointwise, "large", lambda ufunc, d, *arrays: seen.append(ufunc))
    x = torch.ones(300)
    pairs = [(x, x), (x[:, None], x[:1]), (x[:60, None], x[:60]), (x[:8], x[:8, None])]
    for a, b in pairs:
        assert torch.add(a, b).numel() >= a.numel()
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        torch.add(x[:200], x)
    assert not seen
    with pytest.raises(AttributeError):
        torch.add(x[:, None], x)
    assert seen == [np.add]
